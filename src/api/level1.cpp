// Its memory, and its list of extents when writes do not come in ascending order.
#include "api/level1.hpp"

#include <algorithm>

namespace forebay::tcio {
namespace {

// Room for pieces of 16 bytes with as much between them: as many bytes as half of the segment.
constexpr std::int64_t kBytesPerExtent = 16;
constexpr std::int64_t kLeastExtents = 64;

}  // namespace

void Level1::align(std::int64_t offset) {
  if (memory_ == nullptr) {
    // Not filled: pages that are never used are never touched.
    auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(unit_));
    const auto most = static_cast<std::size_t>(std::max(unit_ / kBytesPerExtent, kLeastExtents));
    extents_ = std::make_unique_for_overwrite<Places[]>(most);
    most_ = most;
    memory_ = std::move(memory);
  }
  begin_ = offset / unit_ * unit_;
  end_ = begin_ + unit_;
  clear();
}

void Level1::tidy() {
  if (sorted_) return;
  count_ = merge_ranges(std::span(extents_.get(), count_));
  sorted_ = true;
}

}  // namespace forebay::tcio
