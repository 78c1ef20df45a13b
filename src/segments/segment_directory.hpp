// Which segment stands for which range of the file, and which one gives way to another range.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "segments/segment_area.hpp"
#include "segments/segment_locks.hpp"

namespace forebay {

/// Ranges go by their index, in segments. The directory's lock is held for looking up and for giving a
/// segment to another range, never while waiting for a segment's; a segment's may be held when the
/// directory's is taken.
class SegmentDirectory {
 public:
  /// Who knows what to do with the bytes of a segment that is locked.
  class Owner {
   public:
    virtual Status write(int segment) = 0;
    /// Lets go of one that something was put into.
    virtual void finish(int segment) = 0;

   protected:
    ~Owner() = default;
  };

  SegmentDirectory(const SegmentArea& area, SegmentLocks& locks) : area_(area), locks_(locks) {}
  /// Throws std::bad_alloc.
  void reserve() { order_.reserve(static_cast<std::size_t>(area_.count)); }

  /// The segment for a range, locked. -1: another would have had to give way, and its bytes could not be
  /// written. `before`: a segment that is held, if that needs no waiting.
  int acquire(std::int64_t index, Held& before, Owner& owner, Status& status);
  /// The same if there is one; -1: there is none.
  int lock_present(std::int64_t index);
  /// Those in [first, last] with something in them, as (index, segment), in the order of the file; not
  /// locked, so that they may be others' by the time they are.
  const std::vector<std::pair<std::int64_t, int>>& list_dirty(std::int64_t first, std::int64_t last);

  std::int64_t index_of(int segment) const {
    return area_.segments[segment].index.load(std::memory_order_relaxed);
  }

 private:
  class Lock;

  int find(std::int64_t index) const;
  int lock_victim();
  std::int64_t order_of(int segment) const;
  void use(int segment);
  void bind(int segment, std::int64_t index);
  void rebuild();

  const SegmentArea& area_;
  SegmentLocks& locks_;
  int last_ = 0;  // the segment that this rank used last
  std::vector<std::pair<std::int64_t, int>> order_;
};

}  // namespace forebay
