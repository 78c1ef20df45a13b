// A range of the file.
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

}  // namespace forebay
