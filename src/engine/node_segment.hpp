// What a segment in shared memory says of itself, for the parts of NodeSegments.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "engine/node_segments.hpp"
#include "request/run.hpp"

namespace forebay {

struct alignas(128) NodeSegments::Segment {
  pthread_mutex_t lock;
  std::atomic<int> holder;          // the rank that has locked it; -1: none, or it is just about to
  std::atomic<std::int64_t> index;  // it stands for [index, index + 1) * bytes_ of the file; -1: for nothing
  std::atomic<int> next;            // in its chain
  std::atomic<std::int64_t> used;   // when, in uses of the directory
  // under the lock; read without it by who only wants to know roughly
  std::atomic<std::int64_t> dirty;  // bytes
  std::atomic<std::int64_t> since;  // of the oldest of them
};

/// What a rank is changing, so that whoever comes after a death in the middle of it takes just that out: runs
/// of the file, within segments that this rank has locked.
struct alignas(128) NodeSegments::Journal {
  static constexpr std::size_t kRuns = 512;
  std::atomic<int> count;  // of the runs that are being changed
  std::atomic<int> cut;    // 1: and the run before them, which an edge has cut
  Run before;
  Run runs[kRuns];
};

}  // namespace forebay
