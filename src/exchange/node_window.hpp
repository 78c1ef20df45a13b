// The window of a node: memory that all its ranks see, in which a round's pieces come together before they go
// to the file or to other nodes. Plain memory and C++ atomics: it runs over shared memory between processes
// and over heap memory between threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/waiting.hpp"
#include "layout/extent.hpp"
#include "request/run.hpp"

namespace forebay {

/// One rank's (or thread's) view of the window. All ranks call the collective functions in the same order.
///
/// A round: every rank scatters its runs into buffer `parity`, publishes where its next piece lies, and waits
/// for the others in next_round(). Then owners read the buffer while everyone may scatter the next round into
/// the other buffer: two rounds later the same buffer is used again, and the barrier in between keeps the
/// owner ahead.
class NodeWindow {
 public:
  /// Bytes of memory for `ranks` ranks and rounds of at most `round_bytes`. 0: a sync point, for barrier()
  /// and agree().
  static std::size_t bytes_needed(int ranks, std::int64_t round_bytes);

  /// What of it `rank` reserves: its own marks, and a part of the buffers, which all fill.
  static std::vector<Extent> share_of(int rank, int ranks, std::int64_t round_bytes);

  /// Lays the window over zeroed memory, aligned to 4096. The memory is the caller's, and must outlive the
  /// view.
  NodeWindow(void* memory, int ranks, int rank, std::int64_t round_bytes);

  std::int64_t round_bytes() const { return round_bytes_; }

  /// Begins a flush whose runs all begin and end on multiples of 1 << shift (at most 12): local, before the
  /// first round.
  void begin(int shift) { shift_ = shift; }

  /// Buffer of a round.
  std::byte* buffer(int parity) const { return buffers_ + parity * round_bytes_; }

  /// A rank's share of the first buffer, for lists that the node needs before the first round; and all of it.
  std::span<std::int64_t> desk(int rank) const {
    const auto words =
        static_cast<std::size_t>(round_bytes_) / sizeof(std::int64_t) / static_cast<std::size_t>(ranks_);
    return whole_desk().subspan(static_cast<std::size_t>(rank) * words, words);
  }
  std::span<std::int64_t> whole_desk() const {
    return {reinterpret_cast<std::int64_t*>(buffers_),
            static_cast<std::size_t>(round_bytes_) / sizeof(std::int64_t)};
  }
  int ranks() const { return ranks_; }
  int rank() const { return rank_; }

  /// Forgets what this rank marked in that buffer two rounds ago; to be called in each round, by every rank.
  void clear(int parity);

  /// Marks this rank's runs, whose bytes are in the buffer (the round begins at file offset `origin`).
  void mark(int parity, std::span<const Run> runs, std::int64_t origin);

  /// Marks all granules that the runs touch.
  void mark_touched(int parity, std::span<const Run> runs, std::int64_t origin);

  /// Publishes this rank's next offset, waits until all ranks have, and returns the least of them.
  std::int64_t next_round(int parity, std::int64_t next);

  /// What this rank does while it waits.
  void set_waiting(void (*idle)(), void (*waited)(double) noexcept) {
    waiting_.idle = idle;
    waiting_.waited = waited;
  }

  /// Waits for all ranks, without data.
  void barrier();

  /// The least of all ranks' values, entry by entry, in place; and the sums of others (at most kMostAgreed of
  /// both together, the same numbers on every rank). `meanwhile` runs when this rank has said its values,
  /// before it waits for the others'; it does not use the window and does not throw.
  void agree(std::span<std::int64_t> least, std::span<std::int64_t> sums = {},
             const std::function<void()>& meanwhile = nullptr);
  static constexpr std::size_t kMostAgreed = 20;

  /// Before a rank scatters a round that nobody has agreed on yet, `sequence` as in announce(): false where
  /// another rank of the node has claimed it for another `round` of the file, whose rounds may be smaller
  /// than the window's. What both scattered would meet in the buffer.
  bool claim(std::uint64_t sequence, std::int64_t round);

  // Independent writes of a file whose sync point this is. Those that complete blocks are filling, others
  // pass:

  /// True: somebody is filling, and has to be waited for before anything is written.
  bool begin_bypass() {
    slots_[rank_].bypassing.fetch_add(1, std::memory_order_seq_cst);
    return control_->filling.load(std::memory_order_seq_cst) != 0;
  }
  void end_bypass() { slots_[rank_].bypassing.fetch_sub(1, std::memory_order_release); }
  bool filling() const { return control_->filling.load(std::memory_order_seq_cst) != 0; }
  void begin_filling() { control_->filling.fetch_add(1, std::memory_order_seq_cst); }
  void end_filling() { control_->filling.fetch_sub(1, std::memory_order_release); }
  /// While this rank is filling: whether any passes.
  bool others_bypass() const;

  /// For several nodes: aggregator 0 tells the node where the next round begins, and, of a wide one, where
  /// this round ends. The others wait for it. `sequence` counts rounds over the life of the window, the same
  /// on all ranks.
  struct Course {
    std::int64_t next = 0, end = 0;
  };
  void announce(std::uint64_t sequence, Course course);
  Course await(std::uint64_t sequence);

  /// For whoever waits for one aggregator instead of for all ranks: aggregator `a` of the node (one rank is,
  /// always the same) says that its part of flush `sequence` is done, with a failure's code, or 0.
  void finish(int a, std::uint64_t sequence, int code);
  /// Waits for that, and returns the code. A barrier of the node has to follow before
  /// the aggregator may finish another flush.
  int await_finish(int a, std::uint64_t sequence);

  /// Whether this rank has failed, visible to the node after the next barrier.
  void set_failed(bool failed) { slots_[rank_].failed.store(failed, std::memory_order_relaxed); }
  /// The lowest rank that has; -1: none.
  int failed_rank() const;

  /// Merges all ranks' marks of the bits of window bytes [begin, end) into `merged` (bit positions of the
  /// window), and returns how many bytes are marked. Only after next_round(). Bits outside the range in
  /// boundary words are left undefined.
  std::int64_t merge(int parity, std::int64_t begin, std::int64_t end, std::uint64_t* merged) const;

  /// Where a node has so many ranks, an owner that merges alone is slower than all that wait for it.
  bool merges_together() const { return ranks_ >= kMergeTogether; }
  /// After next_round(), by all ranks if merges_together(): each merges its share of the whole window, and
  /// all wait for each other.
  void merge_together(int parity);
  /// Of a window that was merged so: as merge().
  std::int64_t copy_merged(std::int64_t begin, std::int64_t end, std::uint64_t* merged) const;

  int shift() const { return shift_; }

 private:
  struct alignas(128) Slot {
    std::atomic<std::int64_t> next[2];
    std::atomic<bool> failed;
    std::atomic<int> finish_code;         // of aggregator number i in slot i
    std::atomic<std::uint32_t> finished;  // the low bits of its sequence
    std::atomic<std::int64_t> agreed[2][kMostAgreed];
    alignas(128) std::atomic<int> bypassing;
  };
  struct alignas(128) Control {
    alignas(128) std::atomic<std::uint32_t> arrived;
    alignas(128) std::atomic<std::uint32_t> generation;
    alignas(128) std::atomic<std::uint32_t> sleepers;
    alignas(128) std::atomic<int> filling;
    alignas(128) std::atomic<std::uint64_t> claimed;  // the low bits of a round's number and of the sequence
    alignas(128) std::atomic<std::uint32_t> announced;  // the low bits of its sequence
    std::atomic<std::int64_t> course[2][2];
  };

  static constexpr int kMergeTogether = 16;

  template <class Meanwhile>
  void barrier(Meanwhile&& meanwhile);
  std::int64_t merge_words(int parity, std::int64_t first, std::int64_t last, std::uint64_t* out) const;
  std::int64_t outside(std::int64_t first_bit, std::int64_t last_bit, const std::uint64_t* merged) const;
  static std::size_t maps(int ranks) {
    return 2 * static_cast<std::size_t>(ranks) + (ranks >= kMergeTogether ? 1 : 0);
  }
  std::uint64_t* shared_merged() const { return words(ranks_, 0); }

  std::int64_t words_per_map() const { return round_bytes_ / 64; }
  std::uint64_t* words(int rank, int parity) const;
  std::uint8_t* summary(int rank, int parity) const;

  int ranks_;
  int rank_;
  std::int64_t round_bytes_;
  int shift_ = 0;
  unsigned agreements_ = 0;
  Waiting waiting_;
  Control* control_;
  Slot* slots_;
  std::byte* buffers_;
  std::byte* maps_;
  std::size_t map_bytes_;
};

}  // namespace forebay
