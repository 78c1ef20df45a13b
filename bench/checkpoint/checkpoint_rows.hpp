// The checkpoints' rows by name.
#pragma once

#include <cstdint>
#include <span>

#include "rows.hpp"

namespace forebay::bench {

std::span<const RowInfo> checkpoint_rows();

// About the bytes of one checkpoint, in all rows together.
std::int64_t bytes_of_checkpoint(Size size);

}  // namespace forebay::bench
