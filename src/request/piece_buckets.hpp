// Brings a piece list that does not ascend into rounds: an index of bounded size, made in as many passes as
// that takes.
#pragma once

#include <vector>

#include "request/cursor.hpp"
#include "request/piece_cursor.hpp"

namespace forebay {

/// Division by a number known only at run time, by a multiplication and at most one correction.
class FastDivide {
 public:
  explicit FastDivide(std::int64_t divisor = 1)
      : divisor_(static_cast<std::uint64_t>(divisor)),
        inverse_(divisor == 1 ? 0 : ~std::uint64_t{0} / divisor_) {}

  /// value / divisor, for value >= 0.
  std::int64_t operator()(std::int64_t value) const {
    const auto number = static_cast<std::uint64_t>(value);
    if (inverse_ == 0) return value;
    // inverse_ falls short of 2^64 / divisor by less than 1 + 1 / divisor, the product by less than one in
    // all.
    auto quotient = static_cast<std::uint64_t>((static_cast<unsigned __int128>(number) * inverse_) >> 64);
    if (number - quotient * divisor_ >= divisor_) ++quotient;
    return static_cast<std::int64_t>(quotient);
  }

 private:
  std::uint64_t divisor_;
  std::uint64_t inverse_;
};

/// The walk of one list that does not ascend. Its rounds ("buckets") come in ascending order, the fragments
/// of one round in list order, so that later pieces win where they overlap and nothing is sorted.
///
/// Fragments are counted by cell (some consecutive rounds); then a pass indexes as many rounds as the bound
/// allows: count, place, hand out. Where even a single cell is too much, it is counted again in finer cells;
/// where a single round is too much, the list is walked block by block for that round, and nothing is
/// indexed.
class PieceBuckets {
 public:
  /// `list` must outlive this. `map` has been simplified: record_elements != 0 only where records have gaps.
  PieceBuckets(const PieceList& list, const PieceMapping& map, Extent hull, std::int64_t index_bytes);

  void start(std::int64_t round_bytes);
  std::int64_t peek();
  std::size_t take(std::int64_t limit, std::span<Run> out);

  /// The most that the index has held, in bytes; how often the list was walked. For tests and counters.
  std::size_t peak_bytes() const { return peak_bytes_; }
  std::int64_t scans() const { return scans_; }

 private:
  // A piece, or the part of it that lies in one record: its file bytes, and its place in the stream in
  // elements.
  struct Fragment {
    std::int64_t file;
    std::int64_t file_end;
    std::int64_t stream;
    std::int64_t length;
  };

  // An indexed fragment in 12 bytes. File and stream fit because of the conditions checked in start().
  struct Narrow {
    std::int32_t file;  // from the round's begin; negative where the piece begins before it
    std::uint32_t stream;
    std::uint32_t length;  // both in elements
  };

  template <class F>
  void for_each_fragment(std::int64_t begin, std::int64_t end, F&& f);
  template <bool gaps_only, bool records, class F>
  void walk(std::size_t first_block, std::size_t last_block, std::int64_t begin, std::int64_t end,
            F& f) const;
  template <class F>
  void walk_blocks(std::size_t first_block, std::size_t last_block, std::int64_t begin, std::int64_t end,
                   F& f) const;

  Extent file_range(const PieceList::Block& block) const;
  std::int64_t file_of(std::int64_t element) const;
  std::int64_t round_begin(std::int64_t round) const { return round * round_bytes_; }

  bool settle();
  void next_pass();
  void count_cells(std::int64_t begin, std::int64_t end);
  void index_rounds(std::int64_t begin, std::int64_t end, std::uint32_t entries);
  void stream_round(std::int64_t round);
  bool stream_blocks();
  void release();
  void note_peak();
  template <class Entry>
  void place(std::vector<Entry>& entries, std::uint32_t count);
  std::size_t entry_bytes() const { return narrow_ ? sizeof(Narrow) : sizeof(Run); }
  Run unpack(std::size_t i) const;

  const PieceList& list_;
  const PieceMapping map_;
  const Extent hull_;
  const std::int64_t index_bytes_;
  FastDivide by_record_{1};

  std::int64_t round_bytes_ = 1;
  FastDivide by_round_{1};
  bool narrow_ = false;
  std::int64_t end_round_ = 0;  // one past the last round of the hull
  std::int64_t max_cells_ = 1;  // of the counts
  std::int64_t max_entries_ = 1;

  // The counts: cells of 2^cell_shift_ rounds from cells_begin_ up to cells_end_; all rounds before
  // next_round_ are done.
  std::vector<std::uint32_t> cells_;
  std::int64_t cells_begin_ = 0;
  std::int64_t cells_end_ = 0;
  int cell_shift_ = 0;
  std::int64_t next_round_ = 0;

  // The pass: rounds [pass_begin_, pass_end_), the entries of round r before bucket_end_[r - pass_begin_]. Of
  // the current round, entries from entry_ on are left; rounds before it are done.
  enum class Mode { fresh, indexed, streaming, done } mode_ = Mode::done;
  std::int64_t pass_begin_ = 0;
  std::int64_t pass_end_ = 0;
  std::vector<std::uint32_t> bucket_end_;
  std::vector<Narrow> narrow_entries_;
  std::vector<Run> wide_entries_;
  std::int64_t round_ = 0;
  std::size_t entry_ = 0;
  std::size_t round_entries_end_ = 0;
  std::int64_t round_low_ = -1;   // least offset of the current round once it was asked for, else -1
  std::size_t stream_block_ = 0;  // streaming: the next block to look into

  std::size_t peak_bytes_ = 0;
  std::int64_t scans_ = 0;
};

}  // namespace forebay
