// Which bytes of a segment were put: marks, a bit a byte, and the journal of those that are being changed.
#pragma once

#include <cstdint>
#include <span>

#include "exchange/dirty_map.hpp"
#include "request/stream.hpp"
#include "segments/segment_area.hpp"

namespace forebay {

/// All of it under the segment's lock, but dirty().
class SegmentBytes {
 public:
  explicit SegmentBytes(const SegmentArea& area) : area_(area) {}

  std::int64_t dirty(int segment) const {
    return area_.segments[segment].dirty.load(std::memory_order_acquire);
  }
  bool full(int segment) const { return dirty(segment) == area_.bytes; }

  /// Before put(): sees to it that what is marked there is not lost where this rank dies meanwhile. False: it
  /// has to go to the file first.
  bool save(int segment, std::span<const Run> runs);
  /// Copies runs within the segment, which lie in this rank's journal, and leaves them there as being
  /// changed: the caller ends that. Where the source throws they are as they were.
  void put(int segment, std::span<const Run> runs, Source& source);
  /// Undoes what a rank was changing there: bytes that it saved are put back, others go.
  void undo_changing(int segment, int rank);
  /// Takes out a part of the segment, or all of it.
  void clear(int segment, std::int64_t begin, std::int64_t end);
  void clear(int segment) { clear(segment, 0, area_.bytes); }

  /// After a death with the segment's lock held. What the dead rank had marked is there, but for what it was
  /// changing; the sum may not be.
  void recover(int segment);

  bool marked(int segment, std::int64_t begin, std::int64_t end) const;
  bool any_marked(int segment, std::int64_t begin, std::int64_t end) const;
  /// Calls f(begin, length) for each run of marked bytes in a part of the segment, ascending.
  template <class F>
  void for_each_run(int segment, std::int64_t begin, std::int64_t end, F&& f) const {
    for_each_bit_run(area_.words(segment), begin, end, f);
  }
  template <class F>
  void for_each_run(int segment, F&& f) const {
    for_each_run(segment, 0, area_.bytes, f);
  }

 private:
  void mark(int segment, std::span<const Run> runs);

  const SegmentArea& area_;
  bool can_save_ = false;
};

}  // namespace forebay
