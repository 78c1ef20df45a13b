// Calls to PnetCDF that may not fail.
#pragma once

#include <fmt/format.h>
#include <pnetcdf.h>

#include <stdexcept>

namespace forebay::bench {

// Throws std::runtime_error, naming the call and the reason.
inline void check(int status, const char* call) {
  if (status != NC_NOERR) throw std::runtime_error(fmt::format("{}: {}", call, ncmpi_strerror(status)));
}

}  // namespace forebay::bench
