// One table of numbers and their meanings, for both C interfaces.
#include "api/errors.hpp"

#include <array>
#include <cstddef>

#include "forebay/core.h"
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
                              "internal error",
                              "a callback failed"};
// One table: what TCIO has, and one more.
static_assert(int{FOREBAY_ERR_ARGUMENT} == int{TCIO_ERR_ARGUMENT} &&
              int{FOREBAY_ERR_FILE} == int{TCIO_ERR_FILE} && int{FOREBAY_ERR_MODE} == int{TCIO_ERR_MODE} &&
              int{FOREBAY_ERR_HINT} == int{TCIO_ERR_HINT} &&
              int{FOREBAY_ERR_NO_FILE} == int{TCIO_ERR_NO_FILE} &&
              int{FOREBAY_ERR_ACCESS} == int{TCIO_ERR_ACCESS} &&
              int{FOREBAY_ERR_SPACE} == int{TCIO_ERR_SPACE} && int{FOREBAY_ERR_IO} == int{TCIO_ERR_IO} &&
              int{FOREBAY_ERR_MEMORY} == int{TCIO_ERR_MEMORY} && int{FOREBAY_ERR_MPI} == int{TCIO_ERR_MPI} &&
              int{FOREBAY_ERR_UNSUPPORTED} == int{TCIO_ERR_UNSUPPORTED} &&
              int{FOREBAY_ERR_PEER} == int{TCIO_ERR_PEER} &&
              int{FOREBAY_ERR_INTERNAL} == int{TCIO_ERR_INTERNAL} &&
              int{FOREBAY_ERR_CALLBACK} == int{TCIO_ERR_INTERNAL} + 1);
static_assert(meanings.size() == FOREBAY_ERR_CALLBACK + 1);

const char* meaning(int code) {
  const auto at = static_cast<std::size_t>(code);
  return code >= 0 && at < meanings.size() ? meanings[at] : "unknown error";
}

thread_local std::string last;

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
  return status.ok() ? TCIO_SUCCESS : fail(number_of(status.code()), status.message());
}

}  // namespace forebay::tcio

extern "C" {

const char* tcio_strerror(int code) {
  return forebay::tcio::meaning(code);
}
const char* forebay_strerror(int code) {
  return forebay::tcio::meaning(code);
}

const char* tcio_last_error(void) {
  return forebay::tcio::last.c_str();
}
const char* forebay_last_error(void) {
  return forebay::tcio::last.c_str();
}

}  // extern "C"
