// The small change of the core: one contiguous run of file bytes and where its bytes come from.
#pragma once

#include <cstdint>

#include "layout/extent.hpp"

namespace forebay {

/// `length` bytes at file offset `file`. `stream` tells the source where these bytes come from: their
/// position, in bytes, in the request's stream (its elements in file form, in the order of the request).
struct Run {
  std::int64_t file;
  std::int64_t stream;
  std::int64_t length;
};

}  // namespace forebay
