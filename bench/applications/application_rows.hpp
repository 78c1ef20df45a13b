// The benchmark's rows by name.
#pragma once

#include "rows.hpp"

namespace forebay::bench {

std::span<const RowInfo> application_rows();

}  // namespace forebay::bench
