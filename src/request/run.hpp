// The small change of the core: one contiguous run of file bytes and where its bytes come from.
#pragma once

#include <cstdint>
#include <limits>

namespace forebay {

/// "No offset": larger than any file offset.
inline constexpr std::int64_t kNoOffset = std::numeric_limits<std::int64_t>::max();

/// A half-open byte range [begin, end) of the file; empty when begin >= end.
struct Extent {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool empty() const { return begin >= end; }
  std::int64_t size() const { return empty() ? 0 : end - begin; }
};

/// `length` bytes at file offset `file`. `stream` tells the source where these bytes come from: their
/// position, in bytes, in the request's stream (its elements in file form, in the order of the request).
struct Run {
  std::int64_t file;
  std::int64_t stream;
  std::int64_t length;
};

}  // namespace forebay
