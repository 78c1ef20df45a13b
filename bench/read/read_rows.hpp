// The rows that are read back.
#pragma once

#include <span>

#include "rows.hpp"

namespace forebay::bench {

std::span<const RowInfo> read_rows();

}  // namespace forebay::bench
