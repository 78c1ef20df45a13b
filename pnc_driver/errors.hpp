// From the core's outcomes to PnetCDF's error codes, and the wall that keeps exceptions out of a C library.
#pragma once

#include <pnetcdf.h>

#include <exception>
#include <new>

#include "base/status.hpp"

namespace forebay::pnc {

/// The NC_E* code that tells a program what `status` says; NC_NOERR for success. `io`: for what failed in the
/// file, here or on another rank.
int to_nc_error(const Status& status, int io = NC_EWRITE);

/// The same for a failed operation of `what`, and says the message on stderr once a process. A rank that only
/// heard of another's failure says nothing.
int report(const Status& status, const char* what, int io = NC_EWRITE);

/// Calls f(), which returns an NC_E* code, and turns what it throws into one.
int thrown_to_nc_error(std::exception_ptr thrown) noexcept;

template <class F>
int guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return thrown_to_nc_error(std::current_exception());
  }
}

}  // namespace forebay::pnc
