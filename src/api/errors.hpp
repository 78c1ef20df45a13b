// How a Status becomes what a C program gets: a number, and a sentence to ask for.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/status.hpp"

namespace forebay::tcio {

/// Keeps the sentence for forebay_last_error, and returns the number.
int fail(int number, const std::string& message) noexcept;
int finish(const Status& status) noexcept;

/// Runs what a function does; a failure or an exception becomes a number.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    return finish(body());
  } catch (const std::bad_alloc&) {
    return finish({Code::no_memory, "out of memory"});
  } catch (const std::exception& error) {
    return finish({Code::internal, error.what()});
  } catch (...) {
    return finish({Code::internal, "unknown exception"});
  }
}

}  // namespace forebay::tcio
