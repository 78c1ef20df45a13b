// TCIO's level 1: what one rank has written within one segment of the file, until it moves on to level 2.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "request/byte_order.hpp"
#include "request/run.hpp"

namespace forebay {

/// A piece that was written, within a segment.
struct Level1Extent {
  std::uint32_t begin, end;
};

/// What a level 1 shows to who comes after its process: whatever instruction a kill comes before, all that
/// was copied is there, and of a copy in the middle all or nothing.
struct alignas(128) Level1State {
  std::atomic<std::int64_t> begin;   // of its segment
  std::atomic<std::uint32_t> count;  // of its extents
  // Bytes that a copy may write over are saved first. They are to come back if this is one more than `count`:
  // the copy was not completed.
  std::atomic<std::uint32_t> saved_for;
  Level1Extent saved;
  std::atomic<bool> acknowledged;  // by the keeper process, which hears when this rank ends

  void initialize() { saved_for = 0, count = 0; }
};

/// Memory for a level 1 that outlives the process.
struct Level1Memory {
  Level1State* state = nullptr;
  std::byte* at = nullptr;  // extents, bytes, saved bytes
};

/// A buffer that stands for one aligned segment of the file. A byte lies at its place in the segment, so the
/// last write to a place wins, in whatever order they come; the list of extents says what was written.
class Level1 {
 public:
  /// Longer pieces are not copied.
  static constexpr std::int64_t kMostPiece = 16 << 10;
  /// What a Level1Memory has to have.
  static std::size_t bytes_needed(std::int64_t unit);

  /// `unit`: bytes of a segment, at most 1 GiB. Private memory is taken with the first align().
  explicit Level1(std::int64_t unit) : unit_(unit) {}
  Level1(const Level1&) = delete;
  Level1& operator=(const Level1&) = delete;

  /// Where nothing is in it: it lies there from now on. Throws std::bad_alloc.
  void lie_in(const Level1Memory& memory);

  bool empty() const { return count_ == 0; }
  std::int64_t unit() const { return unit_; }
  /// The segment that it stands for; empty before the first align().
  Extent segment() const { return {begin_, end_}; }
  /// A range that holds all that was written.
  Extent hull() const { return empty() ? Extent{} : Extent{begin_ + low_, begin_ + high_}; }

  /// Where nothing is in it: from now on it stands for the segment of `offset`. Throws std::bad_alloc.
  void align(std::int64_t offset);

  /// Copies at least one byte and at most kMostPiece, all within the segment. There must be room.
  void copy(std::int64_t offset, const void* data, std::int64_t length) {
    const auto at = static_cast<Place>(offset - begin_);
    const auto end = static_cast<Place>(at + static_cast<Place>(length));
    const bool over = at < high_;  // something may be there
    const bool saves = over && saved_ != nullptr;
    if (saves) save(at, end);
    copy_bytes(static_cast<const std::byte*>(data), bytes_ + at, static_cast<std::size_t>(length));
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (count_ > 0 && extents_[count_ - 1].end == at && !saves) {
      extents_[count_ - 1].end = end;
      if (end > high_) high_ = end;
      return;
    }
    if (count_ == 0 || at < low_) low_ = at;
    if (over) sorted_ = false;
    if (end > high_) high_ = end;
    extents_[count_] = {at, end};
    ++count_;
    state_->count.store(count_, std::memory_order_release);
  }
  /// Whether the list has room for another extent. Where it is full, tidying may make some.
  bool room() const { return count_ < most_; }
  /// Every byte was written.
  bool full() const { return count_ == 1 && extents_[0].end - extents_[0].begin == unit_; }

  /// Lists the extents in order, without overlap.
  void tidy();
  /// Lists them as they came; what a signal handler may do.
  void list() { list_ = extents_, listed_ = count_; }
  void clear() {
    state_->saved_for.store(0, std::memory_order_relaxed);
    state_->count.store(0, std::memory_order_release);
    count_ = 0, high_ = 0, sorted_ = true;
  }

  // What was listed, as RunCursor wants it; the stream is memory().
  std::size_t size() const { return listed_; }
  Run operator[](std::size_t i) const {
    return {begin_ + list_[i].begin, list_[i].begin, list_[i].end - list_[i].begin};
  }
  const std::byte* memory() const { return bytes_; }

 private:
  using Place = std::uint32_t;

  void save(Place begin, Place end);

  std::int64_t unit_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::byte* bytes_ = nullptr;
  Level1Extent* extents_ = nullptr;
  std::byte* saved_ = nullptr;  // null: private
  Level1State own_{};
  Level1State* state_ = &own_;
  std::uint32_t count_ = 0;
  std::uint32_t most_ = 0;
  Place low_ = 0;
  Place high_ = 0;
  bool sorted_ = true;
  Level1Extent* list_ = nullptr;
  std::size_t listed_ = 0;
  std::unique_ptr<std::byte[]> own_bytes_;
  std::unique_ptr<Level1Extent[]> own_extents_;  // beside shared memory: to put them in order
};

/// What the level 1 of a process that has ended held, with what a copy in the middle was writing over as it
/// was; for RunCursor.
class Level1Left {
 public:
  /// Throws std::bad_alloc.
  Level1Left(const Level1Memory& memory, std::int64_t unit);

  std::size_t size() const { return extents_.size(); }
  Run operator[](std::size_t i) const {
    return {begin_ + extents_[i].begin, extents_[i].begin, extents_[i].end - extents_[i].begin};
  }
  const std::byte* memory() const { return bytes_; }

 private:
  std::int64_t begin_;
  const std::byte* bytes_;
  std::vector<Level1Extent> extents_;
};

}  // namespace forebay
