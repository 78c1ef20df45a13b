// The rows of the TCIO benchmark.
#pragma once

#include <span>

#include "rows.hpp"

namespace forebay::bench {

std::span<const RowInfo> tcio_rows();

}  // namespace forebay::bench
