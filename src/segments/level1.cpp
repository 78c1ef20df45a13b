// Its memory, and its list of extents when writes do not come in ascending order.
#include "segments/level1.hpp"

#include <cstring>
#include <span>

namespace forebay {
namespace {

// Room for pieces of 16 bytes with as much between them: as many bytes as half of the segment.
constexpr std::int64_t kBytesPerExtent = 16;
constexpr std::int64_t kLeastExtents = 64;

std::uint32_t most_extents(std::int64_t unit) {
  return static_cast<std::uint32_t>(std::max(unit / kBytesPerExtent, kLeastExtents));
}

/// The parts of a Level1Memory.
struct Parts {
  Parts(std::byte* at, std::int64_t unit)
      : extents(reinterpret_cast<Level1Extent*>(at)),
        bytes(at + most_extents(unit) * sizeof(Level1Extent)),
        saved(bytes + unit) {}
  Level1Extent* extents;
  std::byte* bytes;
  std::byte* saved;
};

}  // namespace

std::size_t Level1::bytes_needed(std::int64_t unit) {
  return most_extents(unit) * sizeof(Level1Extent) +
         static_cast<std::size_t>(unit + std::min(unit, kMostPiece));
}

void Level1::lie_in(const Level1Memory& memory) {
  if (state_ == memory.state) return;
  own_extents_ = std::make_unique_for_overwrite<Level1Extent[]>(most_extents(unit_));
  own_bytes_.reset();
  const Parts parts(memory.at, unit_);
  extents_ = parts.extents;
  bytes_ = parts.bytes;
  saved_ = parts.saved;
  state_ = memory.state;
  most_ = most_extents(unit_);
  begin_ = end_ = 0;
  clear();
}

void Level1::align(std::int64_t offset) {
  if (bytes_ == nullptr) {
    // Not filled: pages that are never used are never touched.
    auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(unit_));
    own_extents_ = std::make_unique_for_overwrite<Level1Extent[]>(most_extents(unit_));
    own_bytes_ = std::move(memory);
    bytes_ = own_bytes_.get();
    extents_ = own_extents_.get();
    most_ = most_extents(unit_);
  }
  clear();
  begin_ = offset / unit_ * unit_;
  end_ = begin_ + unit_;
  state_->begin.store(begin_, std::memory_order_release);
}

void Level1::tidy() {
  list();
  if (sorted_) return;
  if (saved_ == nullptr) {
    listed_ = count_ = static_cast<std::uint32_t>(merge_ranges(std::span(extents_, count_)));
    sorted_ = true;
    return;
  }
  // Those that others may have to find stay as they are.
  list_ = own_extents_.get();
  std::copy_n(extents_, count_, list_);
  listed_ = merge_ranges(std::span(list_, count_));
}

void Level1::save(Place begin, Place end) {
  std::memcpy(saved_, bytes_ + begin, end - begin);
  state_->saved = {begin, end};
  state_->saved_for.store(count_ + 1, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

Level1Left::Level1Left(const Level1Memory& memory, std::int64_t unit) : begin_(memory.state->begin) {
  const Parts parts(memory.at, unit);
  bytes_ = parts.bytes;
  Level1State& state = *memory.state;
  const std::uint32_t count = std::min<std::uint32_t>(state.count, most_extents(unit));
  const auto is_well = [&](Level1Extent e) { return e.begin < e.end && e.end <= unit; };
  if (count == 0 || begin_ < 0) return;
  if (const Level1Extent was = state.saved; state.saved_for == count + 1 && is_well(was))
    std::memcpy(parts.bytes + was.begin, parts.saved, was.end - was.begin);
  extents_.reserve(count);
  std::copy_if(parts.extents, parts.extents + count, std::back_inserter(extents_), is_well);
  extents_.resize(merge_ranges(std::span(extents_)));
}

}  // namespace forebay
