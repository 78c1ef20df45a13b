// The memory that the ranks of a node share, and what lies where in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/robust_lock.hpp"
#include "request/run.hpp"
#include "segments/journal.hpp"
#include "segments/level1.hpp"

namespace forebay {

/// What a segment says of itself.
struct alignas(128) SegmentState {
  RobustLock lock;
  std::atomic<int> holder;          // 1 + the rank that has locked it; 0: none, or it changes nothing
  std::atomic<std::int64_t> index;  // it stands for this range of the file, in segments, or is one of these:
  static constexpr std::int64_t kUnused = -1;
  static constexpr std::int64_t kWithoutMemory = -2;
  std::atomic<int> next;           // in its chain
  std::atomic<std::int64_t> used;  // when, in uses of the directory
  // changed under the lock; read without it by who only wants to know roughly
  std::atomic<std::int64_t> dirty;  // bytes
  std::atomic<std::int64_t> since;  // of the oldest of them
};

/// A rank's view of it. Segments go by their number in memory.
struct SegmentArea {
  struct Header {
    RobustLock lock;  // of the directory
    // Between the ranks and the keeper process:
    std::atomic<std::uint64_t> file;    // whose they are; 0: nobody's
    std::atomic<std::uint64_t> taken;   // the file that it would write them to
    std::atomic<bool> draining;         // it may be in them
    std::atomic<std::uint64_t> number;  // its own of this memory
    std::atomic<std::int64_t> kept;
    std::atomic<std::int64_t> uses;
    std::atomic<int> bypassing;       // ranks that may be writing past the segments
    std::atomic<int> without_memory;  // segments
  };

  /// Zeroed, page-aligned memory. `rank`: below `ranks`, or that number, for the keeper process. `level1`:
  /// with a place for each rank's.
  SegmentArea(void* memory, std::int64_t segment_bytes, int count, int ranks, int rank, bool level1 = false);
  static std::size_t bytes_needed(std::int64_t segment_bytes, int count, int ranks, bool level1 = false);
  /// So many of them have to be reserved at first: with one segment. The others are, as they are needed.
  static std::size_t bytes_at_first(std::int64_t segment_bytes, int count, int ranks);
  /// By one rank, before any of them uses it: nothing is kept.
  void initialize() const;

  Extent range_of(int segment) const {
    const std::int64_t origin = segments[segment].index.load(std::memory_order_relaxed) * bytes;
    return {origin, origin + bytes};
  }
  /// A bit for each byte that was put.
  std::uint64_t* words(int segment) const {
    return reinterpret_cast<std::uint64_t*>(slots + segment * slot_bytes);
  }
  std::byte* data_of(int segment) const { return slots + place_of(segment); }
  std::int64_t place_of(int segment) const { return segment * slot_bytes + map_bytes; }
  /// Reserves its memory, and maps it here. False: there is none.
  bool populate(int segment) const;
  Journal& journal() const { return journals[rank]; }
  /// Where a rank puts what it writes over, which it has to populate first.
  std::byte* saved_by(int rank_) const { return saved + rank_ * saved_bytes; }
  bool populate_saved() const;
  /// A rank's, which it has to populate before it is used.
  Level1Memory level1(int rank_) const { return {level1_states + rank_, level1s + rank_ * level1_bytes}; }
  bool populate_level1() const;

  int ranks;
  int rank;
  std::int64_t bytes;  // of a segment
  int count;
  int buckets;
  Header* header;
  SegmentState* segments;
  Journal* journals;        // of each rank, and the keeper process's
  std::atomic<int>* heads;  // of the chains of segments whose numbers have the same remainder
  std::byte* slots;         // for each segment its marks and its bytes
  std::byte* saved;
  Level1State* level1_states;
  std::byte* level1s;
  std::int64_t level1_bytes;  // of a rank; 0: there is none
  std::int64_t saved_bytes;   // of a rank
  std::int64_t map_bytes;
  std::int64_t slot_bytes;
};

}  // namespace forebay
