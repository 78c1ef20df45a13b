// A range of the file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

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

/// Puts ranges in order, those that touch as one. How many these are.
template <class Range>
std::size_t merge_ranges(std::span<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::size_t out = 0;
  for (const Range& each : ranges) {
    if (out > 0 && each.begin <= ranges[out - 1].end) {
      ranges[out - 1].end = std::max(ranges[out - 1].end, each.end);
    } else {
      ranges[out++] = each;
    }
  }
  return out;
}

}  // namespace forebay
