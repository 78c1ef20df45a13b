// How a Status reaches HDF5's error stack, and how a callback keeps exceptions to itself.
#pragma once

#include <hdf5.h>

#include <exception>
#include <new>

#include "base/status.hpp"

namespace forebay::hdf5 {

/// Adds an entry of Forebay's own error class. Calls of HDF5's API clear the stack, so this comes last in a
/// callback.
void push_error(const char* function, const Status& status) noexcept;

/// The identifiers of the error class die with the library; called when it shuts down.
void forget_error_class() noexcept;

/// At the end of a function of ours that programs call: prints the error stack where HDF5's own functions
/// would.
herr_t report(herr_t result) noexcept;

/// Runs a step of a collective callback after which the other ranks still wait for this one: no exception
/// gets past it.
template <class Body>
Status contained(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "out of memory"};
  } catch (...) {
    return {Code::internal, "unexpected exception"};
  }
}

/// Runs what a callback does; a failure or an exception becomes an entry on the error stack.
template <class Body>
herr_t guarded(const char* function, Body&& body) noexcept {
  try {
    const Status status = body();
    if (status.ok()) return 0;
    push_error(function, status);
  } catch (const std::bad_alloc&) {
    push_error(function, {Code::no_memory, "out of memory"});
  } catch (const std::exception& error) {
    push_error(function, {Code::internal, error.what()});
  } catch (...) {
    push_error(function, {Code::internal, "unknown exception"});
  }
  return -1;
}

}  // namespace forebay::hdf5
