// The table of numbers and their meanings.
#include "api/errors.hpp"

#include <array>
#include <cstddef>

#include "forebay/status.h"

namespace forebay::tcio {
namespace {

constexpr std::array meanings{"success",
                              "bad argument",
                              "not an open file",
                              "not opened for this",
                              "bad hint",
                              "no such file",
                              "permission denied",
                              "no space left",
                              "input/output error",
                              "out of memory",
                              "MPI is not running, or a call of it failed",
                              "unsupported",
                              "another rank failed",
                              "internal error",
                              "a callback failed"};
static_assert(meanings.size() == FOREBAY_ERR_CALLBACK + 1);

const char* meaning(int code) {
  const auto at = static_cast<std::size_t>(code);
  return code >= 0 && at < meanings.size() ? meanings[at] : "unknown error";
}

thread_local std::string last;

int number_of(Code code) {
  switch (code) {
    case Code::ok:
      return FOREBAY_SUCCESS;
    case Code::no_memory:
    case Code::no_shared_memory:
      return FOREBAY_ERR_MEMORY;
    case Code::no_space:
      return FOREBAY_ERR_SPACE;
    case Code::no_such_file:
      return FOREBAY_ERR_NO_FILE;
    case Code::access:
      return FOREBAY_ERR_ACCESS;
    case Code::io:
      return FOREBAY_ERR_IO;
    case Code::bad_hint:
      return FOREBAY_ERR_HINT;
    case Code::bad_argument:
      return FOREBAY_ERR_ARGUMENT;
    case Code::mpi:
      return FOREBAY_ERR_MPI;
    case Code::unsupported:
      return FOREBAY_ERR_UNSUPPORTED;
    case Code::peer:
      return FOREBAY_ERR_PEER;
    case Code::internal:
      break;
  }
  return FOREBAY_ERR_INTERNAL;
}

}  // namespace

int fail(int number, const std::string& message) noexcept {
  try {
    last = message;
  } catch (...) {
    last.clear();
  }
  return number;
}

int finish(const Status& status) noexcept {
  return status.ok() ? FOREBAY_SUCCESS : fail(number_of(status.code()), status.message());
}

}  // namespace forebay::tcio

extern "C" {

const char* forebay_strerror(int code) {
  return forebay::tcio::meaning(code);
}

const char* forebay_last_error(void) {
  return forebay::tcio::last.c_str();
}

}  // extern "C"
