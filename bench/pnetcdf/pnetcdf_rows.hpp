// The rows of the PnetCDF driver's benchmark.
#pragma once

#include "rows.hpp"

namespace forebay::bench {

std::span<const RowInfo> pnetcdf_rows();

}  // namespace forebay::bench
