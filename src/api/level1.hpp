// TCIO's level 1: what one rank has written within one segment of the file, until it moves on to level 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "request/byte_order.hpp"
#include "request/run.hpp"

namespace forebay::tcio {

/// A private buffer that stands for one aligned segment of the file. A byte lies at its place in the segment,
/// so the last write to a place wins, in whatever order they come; the list of extents says what was written.
class Level1 {
 public:
  /// `unit`: bytes of a segment, at most 1 GiB. Memory is taken with the first align().
  explicit Level1(std::int64_t unit) : unit_(unit) {}

  bool empty() const { return count_ == 0; }
  std::int64_t unit() const { return unit_; }
  /// The segment that it stands for; empty before the first align().
  Extent segment() const { return {begin_, end_}; }
  /// A range that holds all that was written.
  Extent hull() const { return empty() ? Extent{} : Extent{begin_ + low_, begin_ + high_}; }

  /// Where nothing is in it: from now on it stands for the segment of `offset`. Throws std::bad_alloc.
  void align(std::int64_t offset);

  /// Copies at least one byte, all within the segment. There must be room.
  void copy(std::int64_t offset, const void* data, std::int64_t length) {
    const auto at = static_cast<Place>(offset - begin_);
    const auto end = static_cast<Place>(at + static_cast<Place>(length));
    copy_bytes(static_cast<const std::byte*>(data), memory_.get() + at, static_cast<std::size_t>(length));
    if (count_ > 0 && extents_[count_ - 1].end == at) {
      extents_[count_ - 1].end = end;
      if (end > high_) high_ = end;
      return;
    }
    if (count_ == 0) low_ = at, high_ = 0;
    if (at < high_) sorted_ = false;
    if (at < low_) low_ = at;
    if (end > high_) high_ = end;
    extents_[count_] = {at, end};
    ++count_;
  }
  /// Whether the list has room for another extent. Where it is full, tidying may make some.
  bool room() const { return count_ < most_; }
  /// Every byte was written.
  bool full() const { return count_ == 1 && extents_[0].end - extents_[0].begin == unit_; }

  /// Puts the extents in order, without overlap.
  void tidy();
  void clear() { count_ = 0, sorted_ = true; }

  // After tidy(), the list as RunCursor wants it; the stream is memory().
  std::size_t size() const { return count_; }
  Run operator[](std::size_t i) const {
    return {begin_ + extents_[i].begin, extents_[i].begin, extents_[i].end - extents_[i].begin};
  }
  const std::byte* memory() const { return memory_.get(); }

 private:
  using Place = std::uint32_t;
  struct Places {
    Place begin, end;
  };

  std::int64_t unit_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<Places[]> extents_;
  std::size_t count_ = 0;
  std::size_t most_ = 0;
  Place low_ = 0;
  Place high_ = 0;
  bool sorted_ = true;
};

}  // namespace forebay::tcio
