// What a segment in shared memory says of itself, for the parts of NodeSegments.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "engine/node_segments.hpp"

namespace forebay {

struct alignas(128) NodeSegments::Segment {
  pthread_mutex_t lock;
  std::atomic<std::int64_t> index;  // it stands for [index, index + 1) * bytes_ of the file; -1: for nothing
  std::atomic<int> next;            // in its chain
  std::atomic<std::int64_t> used;   // when, in uses of the directory
  // under the lock; read without it by who only wants to know roughly
  std::atomic<std::int64_t> dirty;  // bytes
  std::atomic<std::int64_t> since;  // of the oldest of them
};

/// Lets go of a segment that is locked, also where a cursor or a source throws: the others would wait for
/// ever.
class NodeSegments::Held {
 public:
  Held(NodeSegments& of, int segment) : of_(of), segment_(segment) {}
  ~Held() {
    if (segment_ >= 0) of_.unlock(segment_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  NodeSegments& of_;
  int segment_;
};

}  // namespace forebay
