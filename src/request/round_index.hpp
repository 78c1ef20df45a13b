// Brings pieces that come in any order into rounds: an index of bounded size, made in as many walks over the
// pieces as that takes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "request/run.hpp"

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

/// A piece, or a part of it: its file bytes, and its place in the stream in units of the pieces'.
struct Fragment {
  std::int64_t file;
  std::int64_t file_end;
  std::int64_t stream;
  std::int64_t length;
};

/// An indexed fragment in 12 bytes.
struct IndexEntry {
  std::int32_t file;  // from the round's begin; negative where the piece begins before it
  std::uint32_t stream;
  std::uint32_t length;  // both in units
};

/// Rounds come in ascending order, the fragments of one round in the order of the pieces, so that later ones
/// win where they overlap and nothing is sorted.
///
/// Fragments are counted by cell (some consecutive rounds); then a pass indexes as many rounds as the bound
/// allows: count, place, hand out. Few fragments in more rounds than can be counted are sorted by round
/// instead. Where even a single cell is too much, it is counted again in finer cells; where a single round is
/// too much, the pieces are walked part by part for that round, and nothing is indexed.
///
/// Pieces:
///   each(begin, end, f)   calls f(Fragment), in order, for all that reach into [begin, end)
///   rewind(), next(begin, end, f)   the same part by part; false at the end
///   ok()                  false after a failure: the walk ends
///   unit()                bytes of a unit
///   stream_at(units)      a place in the stream, in bytes
///   fits_entry()          stream and length of every fragment fit an IndexEntry, and so do its bytes
///   exact_hull            the hull begins where a piece does
///   leave(entries), take_over(entries)   may keep an index's memory for the next one: pages that were never
///                         touched cost more than all else here
template <class Pieces>
class RoundIndex {
 public:
  template <class... Args>
  RoundIndex(Extent hull, std::int64_t index_bytes, Args&&... pieces)
      : pieces_(std::forward<Args>(pieces)...),
        hull_(hull),
        index_bytes_(std::max<std::int64_t>(index_bytes, 4096)) {}
  RoundIndex(const RoundIndex&) = delete;
  RoundIndex& operator=(const RoundIndex&) = delete;

  // As a cursor's:
  void start(std::int64_t round_bytes);
  std::int64_t peek();
  std::size_t take(std::int64_t limit, std::span<Run> out);

  /// The most that the index has held, in bytes; how often all pieces were walked. For tests and counters.
  std::size_t peak_bytes() const { return peak_bytes_; }
  std::int64_t scans() const { return scans_; }

 private:
  enum class Mode { fresh, indexed, sorted, streaming, done };

  std::int64_t round_begin(std::int64_t round) const { return round * round_bytes_; }
  template <class F>
  void each(std::int64_t begin, std::int64_t end, F&& f) {
    ++scans_;
    pieces_.each(round_begin(begin), round_begin(end), f);
  }
  /// Calls f(round) for each round in [begin, end) that a fragment reaches into.
  template <class F>
  void each_round(const Fragment& fragment, std::int64_t begin, std::int64_t end, F&& f) const {
    const std::int64_t last = std::min(end - 1, by_round_(fragment.file_end - 1));
    for (std::int64_t round = std::max(begin, by_round_(fragment.file)); round <= last; ++round) f(round);
  }

  bool settle();
  void next_pass();
  void count_cells(std::int64_t begin, std::int64_t end);
  void index_rounds(std::int64_t begin, std::int64_t end, std::uint32_t entries);
  template <class Entry>
  void place(std::vector<Entry>& entries, std::uint32_t count);
  void sort_rounds(std::int64_t begin, std::int64_t end, std::int64_t entries);
  void stream_round(std::int64_t round);
  bool stream_more();
  void release_entries();
  void release();
  void note_peak(std::size_t besides = 0);
  Run wide(const Fragment& fragment) const {
    return {fragment.file, pieces_.stream_at(fragment.stream), fragment.file_end - fragment.file};
  }
  Run unpack(std::size_t i) const;
  Run within_round(Run run) const;

  Pieces pieces_;
  const Extent hull_;
  const std::int64_t index_bytes_;

  std::int64_t round_bytes_ = 1;
  FastDivide by_round_{1};
  bool narrow_ = false;         // IndexEntry, else Run
  std::int64_t end_round_ = 0;  // one past the last round of the hull
  std::int64_t max_cells_ = 1;  // of the counts
  std::int64_t max_entries_ = 1;
  std::int64_t max_sorted_ = 1;

  // The counts: cells of 2^cell_shift_ rounds from cells_begin_ up to cells_end_; all rounds before
  // next_round_ are done.
  std::vector<std::uint32_t> cells_;
  std::int64_t cells_begin_ = 0;
  std::int64_t cells_end_ = 0;
  int cell_shift_ = 0;
  std::int64_t next_round_ = 0;

  // The pass: rounds [pass_begin_, pass_end_), the entries of round r before bucket_end_[r - pass_begin_]. Of
  // the current round, entries from entry_ on are left; rounds before it are done.
  Mode mode_ = Mode::done;
  std::int64_t pass_begin_ = 0;
  std::int64_t pass_end_ = 0;
  std::vector<std::uint32_t> bucket_end_;
  std::vector<IndexEntry> narrow_entries_;
  std::vector<Run> wide_entries_;
  std::int64_t round_ = 0;
  std::size_t entry_ = 0;
  std::size_t round_entries_end_ = 0;
  std::int64_t round_low_ = -1;  // least offset of the current round once it was asked for, else -1

  std::size_t peak_bytes_ = 0;
  std::int64_t scans_ = 0;
};

template <class Pieces>
void RoundIndex<Pieces>::start(std::int64_t round_bytes) {
  round_bytes_ = round_bytes;
  by_round_ = FastDivide(round_bytes);
  end_round_ = (hull_.end - 1) / round_bytes + 1;
  narrow_ = pieces_.fits_entry() && round_bytes < std::int64_t{1} << 31;
  const auto entry_bytes = static_cast<std::int64_t>(narrow_ ? sizeof(IndexEntry) : sizeof(Run));
  // An eighth of the bound each for the counts of cells and of rounds, the rest for the fragments. Sorting
  // takes half as much again.
  max_cells_ = index_bytes_ / 8 / static_cast<std::int64_t>(sizeof cells_[0]);
  max_entries_ = std::min<std::int64_t>(index_bytes_ * 3 / 4 / entry_bytes, 0xFFFFFFFF);
  max_sorted_ = index_bytes_ / 2 / static_cast<std::int64_t>(sizeof(Run));
  release();
  mode_ = Mode::fresh;
  // What an earlier walk left untaken is not to be found again.
  entry_ = round_entries_end_ = 0;
  pass_begin_ = pass_end_ = 0;
  round_low_ = -1;
  cells_begin_ = cells_end_ = next_round_ = hull_.begin / round_bytes;
}

template <class Pieces>
void RoundIndex<Pieces>::release_entries() {
  pieces_.leave(narrow_entries_);
  narrow_entries_ = {};
  wide_entries_ = {};
}

template <class Pieces>
void RoundIndex<Pieces>::release() {
  release_entries();
  cells_ = {};
  bucket_end_ = {};
}

template <class Pieces>
void RoundIndex<Pieces>::note_peak(std::size_t besides) {
  const std::size_t now = (cells_.capacity() + bucket_end_.capacity()) * sizeof(std::uint32_t) +
                          narrow_entries_.capacity() * sizeof(IndexEntry) +
                          wide_entries_.capacity() * sizeof(Run) + besides;
  peak_bytes_ = std::max(peak_bytes_, now);
}

// Counts rounds [begin, end) in as fine cells as the bound allows.
template <class Pieces>
void RoundIndex<Pieces>::count_cells(std::int64_t begin, std::int64_t end) {
  cells_begin_ = begin;
  cells_end_ = end;
  cell_shift_ = 0;
  while (((end - begin - 1) >> cell_shift_) + 1 > max_cells_) ++cell_shift_;
  cells_.assign(static_cast<std::size_t>(((end - begin - 1) >> cell_shift_) + 1), 0);
  note_peak();
  const int shift = cell_shift_;
  each(begin, end, [&](const Fragment& fragment) {
    const std::int64_t first = std::max(begin, by_round_(fragment.file));
    const std::int64_t last = std::min(end - 1, by_round_(fragment.file_end - 1));
    if (first == last) [[likely]] {
      ++cells_[static_cast<std::size_t>((first - begin) >> shift)];
      return;
    }
    for (std::int64_t round = first; round <= last;) {  // one entry in every round that it reaches into
      const std::int64_t cell = (round - begin) >> shift;
      const std::int64_t next = std::min(last + 1, begin + ((cell + 1) << shift));
      cells_[static_cast<std::size_t>(cell)] += static_cast<std::uint32_t>(next - round);
      round = next;
    }
  });
}

// Makes the next rounds with something in them ready, or says that all is done.
template <class Pieces>
void RoundIndex<Pieces>::next_pass() {
  entry_ = round_entries_end_ = 0;
  while (pieces_.ok()) {
    if (next_round_ == cells_end_) {
      if (cells_end_ == end_round_) break;
      count_cells(cells_end_, end_round_);
      continue;
    }
    // Whole cells, as many as fit.
    auto cell = static_cast<std::size_t>((next_round_ - cells_begin_) >> cell_shift_);
    while (cell < cells_.size() && cells_[cell] == 0) ++cell;
    const auto begin_of = [&](std::size_t c) {
      return std::min(cells_end_, cells_begin_ + (static_cast<std::int64_t>(c) << cell_shift_));
    };
    next_round_ = begin_of(cell);
    if (cell == cells_.size()) continue;
    std::int64_t entries = 0;
    std::size_t stop = cell;
    while (stop < cells_.size() && entries + cells_[stop] <= max_entries_ &&
           begin_of(stop + 1) - next_round_ <= max_cells_) {
      entries += cells_[stop++];
    }
    std::int64_t sorted = entries;
    std::size_t sorted_stop = stop;
    while (sorted_stop < cells_.size() && sorted + cells_[sorted_stop] <= max_sorted_)
      sorted += cells_[sorted_stop++];
    if (sorted > entries && sorted <= max_sorted_) {
      sort_rounds(next_round_, begin_of(sorted_stop), sorted);
    } else if (stop > cell) {
      index_rounds(next_round_, begin_of(stop), static_cast<std::uint32_t>(entries));
    } else if (cell_shift_ == 0) {
      stream_round(next_round_);
    } else {
      count_cells(next_round_, begin_of(cell + 1));
      continue;
    }
    next_round_ = pass_end_;
    if (pieces_.ok()) return;
  }
  mode_ = Mode::done;
  release();
}

template <class Pieces>
void RoundIndex<Pieces>::index_rounds(std::int64_t begin, std::int64_t end, std::uint32_t entries) {
  pass_begin_ = begin;
  pass_end_ = end;
  const auto rounds = static_cast<std::size_t>(end - begin);
  bucket_end_.assign(rounds, 0);
  if (cell_shift_ == 0) {
    std::copy_n(cells_.begin() + (begin - cells_begin_), rounds, bucket_end_.begin());
  } else {
    each(begin, end, [&](const Fragment& fragment) {
      each_round(fragment, begin, end,
                 [&](std::int64_t round) { ++bucket_end_[static_cast<std::size_t>(round - begin)]; });
    });
  }
  // From counts to begins; placing moves each begin on to its end.
  std::uint32_t sum = 0;
  for (std::uint32_t& bucket : bucket_end_) {
    const std::uint32_t count = bucket;
    bucket = sum;
    sum += count;
  }
  if (!pieces_.ok()) return;  // sum may fall short
  assert(sum == entries);
  if (narrow_) {
    wide_entries_ = {};
    if (narrow_entries_.capacity() < entries) pieces_.take_over(narrow_entries_);
    place(narrow_entries_, entries);
  } else {
    place(wide_entries_, entries);
  }
  mode_ = Mode::indexed;
  round_ = begin - 1;
}

template <class Pieces>
template <class Entry>
void RoundIndex<Pieces>::place(std::vector<Entry>& entries, std::uint32_t count) {
  if (entries.capacity() < count) entries = {};  // else growing holds both
  if (entries.size() < count) entries.resize(count);
  note_peak();
  each(pass_begin_, pass_end_, [&](const Fragment& fragment) {
    each_round(fragment, pass_begin_, pass_end_, [&](std::int64_t round) {
      Entry& entry = entries[bucket_end_[static_cast<std::size_t>(round - pass_begin_)]++];
      if constexpr (std::is_same_v<Entry, Run>) {
        entry = wide(fragment);
      } else {
        entry = {static_cast<std::int32_t>(fragment.file - round_begin(round)),
                 static_cast<std::uint32_t>(fragment.stream), static_cast<std::uint32_t>(fragment.length)};
      }
    });
  });
}

// Few fragments in many rounds. They are cut at rounds, so that their offsets tell which.
template <class Pieces>
void RoundIndex<Pieces>::sort_rounds(std::int64_t begin, std::int64_t end, std::int64_t entries) {
  pass_begin_ = begin;
  pass_end_ = end;
  release_entries();
  wide_entries_.reserve(static_cast<std::size_t>(entries));
  each(begin, end, [&](const Fragment& fragment) {
    each_round(fragment, begin, end, [&](std::int64_t round) {
      round_ = round;
      wide_entries_.push_back(within_round(wide(fragment)));
    });
  });
  note_peak(static_cast<std::size_t>(entries) * sizeof(Run) / 2);
  std::stable_sort(wide_entries_.begin(), wide_entries_.end(),
                   [&](const Run& a, const Run& b) { return by_round_(a.file) < by_round_(b.file); });
  mode_ = Mode::sorted;
}

template <class Pieces>
void RoundIndex<Pieces>::stream_round(std::int64_t round) {
  release_entries();
  mode_ = Mode::streaming;
  round_ = round;
  pass_end_ = round + 1;
  round_low_ = -1;
  ++scans_;
  pieces_.rewind();
}

// Fills wide_entries_ from the next part that has something for the round; false when there is none.
template <class Pieces>
bool RoundIndex<Pieces>::stream_more() {
  wide_entries_.clear();
  const auto keep = [&](const Fragment& fragment) { wide_entries_.push_back(wide(fragment)); };
  while (wide_entries_.empty() && pieces_.next(round_begin(round_), round_begin(round_ + 1), keep)) {
  }
  note_peak();
  entry_ = 0;
  round_entries_end_ = wide_entries_.size();
  return round_entries_end_ > 0;
}

// Stands on an entry that has not been handed out; false when there is none any more.
template <class Pieces>
bool RoundIndex<Pieces>::settle() {
  while (entry_ == round_entries_end_) {
    if (mode_ == Mode::done) return false;
    if (mode_ == Mode::indexed && round_ + 1 < pass_end_) {
      ++round_;
      round_entries_end_ = bucket_end_[static_cast<std::size_t>(round_ - pass_begin_)];
      round_low_ = -1;
    } else if (mode_ == Mode::sorted && entry_ < wide_entries_.size()) {
      round_ = by_round_(wide_entries_[entry_].file);
      round_low_ = -1;
      const std::int64_t end = round_begin(round_ + 1);
      while (round_entries_end_ < wide_entries_.size() && wide_entries_[round_entries_end_].file < end)
        ++round_entries_end_;
    } else if (mode_ != Mode::streaming || !stream_more()) {
      next_pass();
    }
  }
  return true;
}

template <class Pieces>
Run RoundIndex<Pieces>::unpack(std::size_t i) const {
  if (mode_ != Mode::indexed || !narrow_) return wide_entries_[i];
  const IndexEntry& entry = narrow_entries_[i];
  return {round_begin(round_) + entry.file, pieces_.stream_at(entry.stream), entry.length * pieces_.unit()};
}

// What lies in round_ of a run that may begin before it and end after it.
template <class Pieces>
Run RoundIndex<Pieces>::within_round(Run run) const {
  const std::int64_t begin = round_begin(round_);
  if (run.file < begin) {
    run.stream += begin - run.file;
    run.length -= begin - run.file;
    run.file = begin;
  }
  run.length = std::min(run.length, begin + round_bytes_ - run.file);
  return run;
}

template <class Pieces>
std::int64_t RoundIndex<Pieces>::peek() {
  if (Pieces::exact_hull && mode_ == Mode::fresh) return hull_.begin;
  if (!settle()) return kNoOffset;
  if (round_low_ >= 0) return round_low_;
  std::int64_t low = kNoOffset;
  if (mode_ == Mode::streaming) {
    each(round_, round_ + 1, [&](const Fragment& fragment) { low = std::min(low, fragment.file); });
  } else {
    for (std::size_t i = entry_; i < round_entries_end_; ++i) low = std::min(low, unpack(i).file);
  }
  round_low_ = std::max(low, round_begin(round_));
  return round_low_;
}

template <class Pieces>
std::size_t RoundIndex<Pieces>::take(std::int64_t limit, std::span<Run> out) {
  assert(limit == kNoOffset || limit % round_bytes_ == 0);
  std::size_t n = 0;
  if (limit <= hull_.begin) return 0;
  while (n < out.size() && settle() && round_begin(round_) < limit) {
    const std::size_t stop = std::min(round_entries_end_, entry_ + (out.size() - n));
    for (; entry_ < stop; ++entry_) out[n++] = within_round(unpack(entry_));
  }
  return n;
}

}  // namespace forebay
