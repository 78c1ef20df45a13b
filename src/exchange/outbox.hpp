// The outbox of a node: memory that all its ranks see, in which the bytes of a wide round become messages to
// the owners of the file. What it takes grows with what the node puts, not with how much of the file lies
// between: that is for many nodes, each of which has little of any stripe. Plain memory and C++ atomics.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "layout/file_domains.hpp"
#include "layout/wide_rounds.hpp"
#include "request/stream.hpp"

namespace forebay {

/// Before the message of each cell in a letter to another node.
struct CellHead {
  std::uint32_t cell;
  std::uint32_t bytes;
};

/// One rank's (or thread's) view of the outbox.
///
/// A round, with barriers of the node between its steps:
/// 1. Every rank lists the runs that it puts, cell by cell of the file in ascending order, beside their
///    bytes.
/// 2. The ranks share the cells: each takes one, puts what all ranks listed of it in its place, in the order
///    of ranks, and packs that as one message, so that pieces of different ranks which are neighbours are one
///    run.
/// 3. Aggregators send the messages; those for stripes of this node's owners come into its slots.
class Outbox {
 public:
  /// Bytes of memory for the ranks of a node.
  static std::size_t bytes_needed(const WideRounds& rounds, int ranks);
  /// What of it `rank` reserves: its own list; the slots of `rail`, if it is an aggregator (-1: it is not);
  /// and a part of the messages, which all write.
  static std::vector<Extent> share_of(int rank, int rail, const WideRounds& rounds, int ranks);
  /// How many cells a rank gets through in one round where it puts `bytes` in `runs` runs into each, on the
  /// average; at least one.
  static std::int64_t cells_listed(const WideRounds& rounds, double bytes, double runs);
  /// Lays the outbox over zeroed memory, aligned to 4096. The memory is the caller's, and must outlive the
  /// view.
  Outbox(void* memory, const WideRounds& rounds, int ranks, int rank);

  const WideRounds& rounds() const { return rounds_; }
  bool is_first() const { return rank_ == 0; }

  // Listing. Cells are numbered from the begin of the range.

  /// Whether it is worth listing another cell.
  bool has_room() const;
  /// Adds runs that lie in `cell`, whose first byte is file offset `begin`, which is not before the last cell
  /// listed, and returns how many of them fitted; at least one where nothing was listed. `source`: of their
  /// bytes; null: they are to be read. Throws what it throws, and leaves what it had produced before.
  std::size_t list(std::int64_t cell, std::int64_t begin, std::span<const Run> runs, Source* source);
  /// Where this node's ranks stop at the latest: some rank lists nothing from that cell on.
  void stop_before(std::int64_t cell);
  std::int64_t stop() const;
  void forget_next_stop();  ///< of the next round; by one rank
  /// Forgets what was listed of cells before this one. Other ranks must be through with it.
  void drop_before(std::int64_t cell);
  /// Everything.
  void drop_all() { own().rows = 0; }

  // Merging.

  /// By one rank, before the others begin.
  void begin_merging();
  struct Merged {
    std::int64_t runs = 0, bytes = 0;
  };
  /// Makes messages of as many cells in [first, last) as come to this rank; all runs begin and end on
  /// multiples of 1 << shift.
  Merged merge(std::int64_t first, std::int64_t last, int shift);

  /// The same where they are to be read: messages without data.
  void merge_requests(std::int64_t first, std::int64_t last, int shift);

  // After the barrier that follows:

  /// Empty: nothing was put there.
  std::span<const std::byte> message(std::int64_t cell) const;

  /// Of two sets of slots, and of stops, which one a round has; the same on all ranks, which pass to the next
  /// round together.
  int parity() const { return parity_; }
  void pass() { parity_ = 1 - parity_; }

  // Reading: an aggregator takes what a cell's message asks for, and after another barrier the ranks share
  // the cells again.

  /// Where the answer to a cell's message comes, which is so long.
  std::span<std::byte> place_answer(std::int64_t cell, std::int64_t bytes);
  /// Brings the answers of as many cells in [first, last) as come to this rank to those who listed them.
  /// False: one is not as long as it should be.
  bool share_out(std::int64_t first, std::int64_t last, int shift);
  /// By one rank, before the others share out.
  void begin_sharing();
  /// After one more barrier: what this rank listed, one run after the other, of cells before `cell`: so many
  /// bytes.
  std::span<const std::byte> listed_bytes(std::int64_t cell) const;

  // Slots of this node's owners, two sets used by turns.

  struct Slot {
    std::byte* buffer;     ///< of rounds().block bytes
    std::uint64_t* marks;  ///< a bit for each granule; none is set before the first message comes
  };
  Slot slot(int parity, int rail, std::int64_t number) const;
  /// Puts a cell's message into a slot of which it begins at byte `at`. False: it was not well-formed.
  bool unpack(std::span<const std::byte> message, const Slot& slot, std::int64_t at, int shift) const;
  /// Of bytes [begin, end) of the slot, whole cells.
  static void clear_marks(const Slot& slot, std::int64_t begin, std::int64_t end, int shift);

 private:
  struct Entry {
    std::uint32_t begin, length;  // in the cell
  };
  struct Row {
    std::uint32_t cell, entries, bytes;  // the last two: where the cell's end
  };
  struct alignas(128) List {
    std::int64_t rows;
  };
  struct alignas(128) Control {
    alignas(128) std::atomic<std::int64_t> next_cell;
    alignas(128) std::atomic<std::int64_t> used;      // of the messages' memory
    alignas(128) std::atomic<std::int64_t> stops[2];  // 1 + the cell; 0: none
  };
  struct Message {
    std::int64_t at, bytes;
    std::int64_t answer_at, answer_bytes;
  };

  struct Places;  // of everything, from the begin of the memory
  static Places places(const WideRounds& rounds, int ranks);

  List& list_of(int rank) const;
  Row* rows_of(int rank) const;
  Entry* entries_of(int rank) const;
  std::byte* bytes_of(int rank) const;
  List& own() const { return list_of(rank_); }
  std::int64_t rows() const { return own().rows; }
  template <class F>
  bool for_each_listed(std::int64_t cell, F&& f);
  template <class F>
  void for_each_cell_here(std::int64_t first, std::int64_t last, F&& f);
  void mark(const Entry& entry, int shift);
  void clear_cell(int shift);

  WideRounds rounds_;
  int ranks_;
  int rank_;
  int parity_ = 0;
  std::byte* lists_;
  std::size_t list_bytes_;  // a rank
  Control* control_;
  Message* messages_;
  std::byte* packed_;
  std::byte* slots_;
  // Of the cell that is being merged:
  std::vector<std::byte> image_;
  std::vector<std::uint64_t> marks_;
  std::vector<std::int64_t> next_rows_, rows_before_;  // of each rank
};

}  // namespace forebay
