// Locking segments: one at a time is waited for, and the dead leave theirs to the living.
#pragma once

#include <utility>

#include "segments/segment_area.hpp"
#include "segments/segment_bytes.hpp"

namespace forebay {

class SegmentLocks {
 public:
  SegmentLocks(const SegmentArea& area, SegmentBytes& bytes) : area_(area), bytes_(bytes) {}

  void lock(int segment) {
    area_.segments[segment].lock.take([&] { bytes_.recover(segment); });
    holder(segment).store(area_.rank + 1, std::memory_order_relaxed);
  }
  bool try_lock(int segment) {
    if (!area_.segments[segment].lock.try_take([&] { bytes_.recover(segment); })) return false;
    holder(segment).store(area_.rank + 1, std::memory_order_relaxed);
    return true;
  }
  void unlock(int segment) {
    holder(segment).store(0, std::memory_order_relaxed);
    area_.segments[segment].lock.give();
  }
  /// Whether this rank holds it, perhaps by another thread.
  bool is_mine(int segment) const {
    return holder(segment).load(std::memory_order_relaxed) == area_.rank + 1;
  }

 private:
  std::atomic<int>& holder(int segment) const { return area_.segments[segment].holder; }

  const SegmentArea& area_;
  SegmentBytes& bytes_;
};

/// Lets go of a segment that is locked, also where a cursor or a source throws: the others would wait for
/// ever.
class Held {
 public:
  explicit Held(SegmentLocks& locks, int segment = -1) : locks_(locks), segment_(segment) {}
  ~Held() {
    if (segment_ >= 0) locks_.unlock(segment_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  bool any() const { return segment_ >= 0; }
  int release() { return std::exchange(segment_, -1); }
  void take(int segment) { segment_ = segment; }

 private:
  SegmentLocks& locks_;
  int segment_;
};

}  // namespace forebay
