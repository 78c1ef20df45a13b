// One table of numbers and their meanings.
#include "api/errors.hpp"

#include <array>
#include <cstddef>

#include "forebay/tcio.h"

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
                              "internal error"};
static_assert(meanings.size() == TCIO_ERR_INTERNAL + 1);

thread_local std::string last;

}  // namespace

int number_of(Code code) {
  switch (code) {
    case Code::ok:
      return TCIO_SUCCESS;
    case Code::no_memory:
    case Code::no_shared_memory:
      return TCIO_ERR_MEMORY;
    case Code::no_space:
      return TCIO_ERR_SPACE;
    case Code::no_such_file:
      return TCIO_ERR_NO_FILE;
    case Code::access:
      return TCIO_ERR_ACCESS;
    case Code::io:
      return TCIO_ERR_IO;
    case Code::bad_hint:
      return TCIO_ERR_HINT;
    case Code::bad_argument:
      return TCIO_ERR_ARGUMENT;
    case Code::mpi:
      return TCIO_ERR_MPI;
    case Code::unsupported:
      return TCIO_ERR_UNSUPPORTED;
    case Code::peer:
      return TCIO_ERR_PEER;
    case Code::internal:
      break;
  }
  return TCIO_ERR_INTERNAL;
}

int fail(int number, const std::string& message) noexcept {
  try {
    last = message;
  } catch (...) {
    last.clear();
  }
  return number;
}

int finish(const Status& status) noexcept {
  return status.ok() ? TCIO_SUCCESS : fail(number_of(status.code()), status.message());
}

}  // namespace forebay::tcio

extern "C" {

const char* tcio_strerror(int code) {
  using forebay::tcio::meanings;
  const auto at = static_cast<std::size_t>(code);
  return code >= 0 && at < meanings.size() ? meanings[at] : "unknown error";
}

const char* tcio_last_error(void) {
  return forebay::tcio::last.c_str();
}

}  // extern "C"
