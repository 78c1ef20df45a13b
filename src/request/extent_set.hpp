// A set of bytes of the file, as disjoint extents.
#pragma once

#include <algorithm>
#include <vector>

#include "request/run.hpp"

namespace forebay {

class ExtentSet {
 public:
  bool empty() const { return extents_.empty(); }
  std::size_t size() const { return extents_.size(); }
  void clear() { extents_.clear(); }

  bool overlaps(const Extent& extent) const {
    if (extent.empty()) return false;
    const auto at = first_ending_after(extent.begin);
    return at != extents_.end() && at->begin < extent.end;
  }

  /// Makes room for one more. Throws std::bad_alloc; the next add() does not.
  void make_room() { extents_.reserve(extents_.size() + 1); }

  /// Extents that touch become one. Throws std::bad_alloc.
  void add(Extent extent) {
    if (extent.empty()) return;
    const auto from = extents_.begin() + (first_ending_after(extent.begin - 1) - extents_.cbegin());
    auto to = from;
    for (; to != extents_.end() && to->begin <= extent.end; ++to) {
      extent.begin = std::min(extent.begin, to->begin);
      extent.end = std::max(extent.end, to->end);
    }
    if (from == to) {
      extents_.insert(from, extent);
    } else {
      *from = extent;
      extents_.erase(from + 1, to);
    }
  }

 private:
  std::vector<Extent>::const_iterator first_ending_after(std::int64_t offset) const {
    return std::ranges::upper_bound(extents_, offset, {}, &Extent::end);
  }

  std::vector<Extent> extents_;  // ascending
};

}  // namespace forebay
