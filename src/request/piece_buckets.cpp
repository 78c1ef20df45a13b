// Counting, placing and handing out the fragments of a list that does not ascend.
#include "request/piece_buckets.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "request/piece_code.hpp"

namespace forebay {

PieceBuckets::PieceBuckets(const PieceList& list, const PieceMapping& map, Extent hull,
                           std::int64_t index_bytes)
    : list_(list), map_(map), hull_(hull), index_bytes_(std::max<std::int64_t>(index_bytes, 4096)) {
  if (map_.record_elements != 0) by_record_ = FastDivide(map_.record_elements);
}

void PieceBuckets::start(std::int64_t round_bytes) {
  round_bytes_ = round_bytes;
  by_round_ = FastDivide(round_bytes);
  end_round_ = (hull_.end - 1) / round_bytes + 1;
  constexpr std::int64_t int32_bytes = std::int64_t{1} << 31;
  narrow_ = list_.elements() < (std::int64_t{1} << 32) &&
            list_.longest() * map_.element_bytes < int32_bytes && round_bytes < int32_bytes;
  // An eighth of the bound each for the counts of cells and of rounds, the rest for the fragments.
  max_cells_ = index_bytes_ / 8 / static_cast<std::int64_t>(sizeof cells_[0]);
  max_entries_ =
      std::min<std::int64_t>(index_bytes_ * 3 / 4 / static_cast<std::int64_t>(entry_bytes()), 0xFFFFFFFF);
  release();
  mode_ = Mode::fresh;
  // What an earlier walk left untaken is not to be found again.
  entry_ = round_entries_end_ = 0;
  pass_begin_ = pass_end_ = 0;
  round_low_ = -1;
  stream_block_ = 0;
  cells_begin_ = cells_end_ = next_round_ = hull_.begin / round_bytes;
}

void PieceBuckets::release() {
  cells_ = {};
  bucket_end_ = {};
  narrow_entries_ = {};
  wide_entries_ = {};
}

void PieceBuckets::note_peak() {
  const std::size_t now = (cells_.capacity() + bucket_end_.capacity()) * sizeof(std::uint32_t) +
                          narrow_entries_.capacity() * sizeof(Narrow) +
                          wide_entries_.capacity() * sizeof(Run);
  peak_bytes_ = std::max(peak_bytes_, now);
}

std::int64_t PieceBuckets::file_of(std::int64_t element) const {
  if (map_.record_elements == 0) return map_.base + element * map_.element_bytes;
  const std::int64_t record = by_record_(element);
  return map_.base + record * map_.record_stride_bytes +
         (element - record * map_.record_elements) * map_.element_bytes;
}

Extent PieceBuckets::file_range(const PieceList::Block& block) const {
  return {file_of(block.begin), file_of(block.end - 1) + map_.element_bytes};
}

// Calls f(Fragment) in list order for each fragment, cut at records but not at rounds, that meets [begin,
// end).
template <class F>
void PieceBuckets::for_each_fragment(std::int64_t begin, std::int64_t end, F&& f) {
  ++scans_;
  walk_blocks(0, list_.blocks().size(), begin, end, f);
}

template <class F>
void PieceBuckets::walk_blocks(std::size_t first_block, std::size_t last_block, std::int64_t begin,
                               std::int64_t end, F& f) const {
  const bool gaps_only = list_.constant_length() != 0;
  if (map_.record_elements != 0) {
    gaps_only ? walk<true, true>(first_block, last_block, begin, end, f)
              : walk<false, true>(first_block, last_block, begin, end, f);
  } else {
    gaps_only ? walk<true, false>(first_block, last_block, begin, end, f)
              : walk<false, false>(first_block, last_block, begin, end, f);
  }
}

template <bool gaps_only, bool records, class F>
void PieceBuckets::walk(std::size_t first_block, std::size_t last_block, std::int64_t begin, std::int64_t end,
                        F& f) const {
  const std::int64_t element_bytes = map_.element_bytes;
  const auto emit = [&](std::int64_t file, std::int64_t stream, std::int64_t length) {
    const std::int64_t bytes = length * element_bytes;
    // file < end and file + bytes > begin, told by one comparison: each alone is a coin toss for the branch
    // predictor.
    if (static_cast<std::uint64_t>(file + bytes - 1 - begin) <
        static_cast<std::uint64_t>(end - begin + bytes - 1)) {
      f(Fragment{file, file + bytes, stream, length});
    }
  };
  for (std::size_t b = first_block; b < last_block; ++b) {
    const PieceList::Block& block = list_.blocks()[b];
    const Extent range = file_range(block);
    if (range.begin >= end || range.end <= begin) continue;
    const std::uint16_t* at = list_.words() + block.word;
    std::int64_t position = block.position;
    std::int64_t stream = block.stream;
    std::int64_t gap = 0;
    std::int64_t length = list_.constant_length();
    for (std::int64_t i = 0; i < PieceList::block_pieces && piece_code::next<gaps_only>(at, gap, length);
         ++i) {
      position += gap;
      if constexpr (!records) {
        emit(map_.base + position * element_bytes, stream, length);
      } else {
        std::int64_t record = by_record_(position);
        std::int64_t within = position - record * map_.record_elements;
        for (std::int64_t done = 0; done < length; ++record, within = 0) {
          const std::int64_t part = std::min(length - done, map_.record_elements - within);
          emit(map_.base + record * map_.record_stride_bytes + within * element_bytes, stream + done, part);
          done += part;
        }
      }
      position += length;
      stream += length;
    }
  }
}

// Counts rounds [begin, end) in as fine cells as the bound allows.
void PieceBuckets::count_cells(std::int64_t begin, std::int64_t end) {
  cells_begin_ = begin;
  cells_end_ = end;
  cell_shift_ = 0;
  while (((end - begin - 1) >> cell_shift_) + 1 > max_cells_) ++cell_shift_;
  cells_.assign(static_cast<std::size_t>(((end - begin - 1) >> cell_shift_) + 1), 0);
  note_peak();
  const int shift = cell_shift_;
  for_each_fragment(round_begin(begin), round_begin(end), [&](const Fragment& fragment) {
    const std::int64_t first = std::max(begin, by_round_(fragment.file));
    const std::int64_t last = std::min(end - 1, by_round_(fragment.file_end - 1));
    if (first == last) [[likely]] {
      ++cells_[static_cast<std::size_t>((first - begin) >> shift)];
      return;
    }
    for (std::int64_t round = first; round <= last;) {  // one entry in every round that it meets
      const std::int64_t cell = (round - begin) >> shift;
      const std::int64_t next = std::min(last + 1, begin + ((cell + 1) << shift));
      cells_[static_cast<std::size_t>(cell)] += static_cast<std::uint32_t>(next - round);
      round = next;
    }
  });
}

// Makes the next rounds with something in them ready, or says that all is done.
void PieceBuckets::next_pass() {
  while (true) {
    if (next_round_ == cells_end_) {
      if (cells_end_ == end_round_) {
        mode_ = Mode::done;
        release();
        return;
      }
      count_cells(cells_end_, end_round_);
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
    if (stop > cell) {
      index_rounds(next_round_, begin_of(stop), static_cast<std::uint32_t>(entries));
      next_round_ = pass_end_;
      return;
    }
    if (cell_shift_ == 0) {
      stream_round(next_round_++);
      return;
    }
    count_cells(next_round_, begin_of(cell + 1));
  }
}

void PieceBuckets::index_rounds(std::int64_t begin, std::int64_t end, std::uint32_t entries) {
  pass_begin_ = begin;
  pass_end_ = end;
  const auto rounds = static_cast<std::size_t>(end - begin);
  bucket_end_.assign(rounds, 0);
  if (cell_shift_ == 0) {
    std::copy_n(cells_.begin() + (begin - cells_begin_), rounds, bucket_end_.begin());
  } else {
    for_each_fragment(round_begin(begin), round_begin(end), [&](const Fragment& fragment) {
      const std::int64_t last = std::min(end - 1, by_round_(fragment.file_end - 1));
      for (std::int64_t round = std::max(begin, by_round_(fragment.file)); round <= last; ++round) {
        ++bucket_end_[static_cast<std::size_t>(round - begin)];
      }
    });
  }
  // From counts to begins; placing moves each begin on to its end.
  std::uint32_t sum = 0;
  for (std::uint32_t& bucket : bucket_end_) {
    const std::uint32_t count = bucket;
    bucket = sum;
    sum += count;
  }
  assert(sum == entries);
  if (narrow_) {
    wide_entries_ = {};
    place(narrow_entries_, entries);
  } else {
    place(wide_entries_, entries);
  }
  mode_ = Mode::indexed;
  round_ = begin - 1;
  entry_ = round_entries_end_ = 0;
}

template <class Entry>
void PieceBuckets::place(std::vector<Entry>& entries, std::uint32_t count) {
  if (entries.capacity() < count) entries = {};  // else growing holds both
  entries.resize(count);
  note_peak();
  const std::int64_t element_bytes = map_.element_bytes;
  const auto place_one = [&](const Fragment& fragment) {
    const std::int64_t last = std::min(pass_end_ - 1, by_round_(fragment.file_end - 1));
    for (std::int64_t round = std::max(pass_begin_, by_round_(fragment.file)); round <= last; ++round) {
      Entry& entry = entries[bucket_end_[static_cast<std::size_t>(round - pass_begin_)]++];
      if constexpr (std::is_same_v<Entry, Run>) {
        entry = {fragment.file, fragment.stream * element_bytes, fragment.file_end - fragment.file};
      } else {
        entry = {static_cast<std::int32_t>(fragment.file - round_begin(round)),
                 static_cast<std::uint32_t>(fragment.stream), static_cast<std::uint32_t>(fragment.length)};
      }
    }
  };
  for_each_fragment(round_begin(pass_begin_), round_begin(pass_end_), place_one);
}

void PieceBuckets::stream_round(std::int64_t round) {
  narrow_entries_ = {};
  mode_ = Mode::streaming;
  round_ = round;
  round_low_ = -1;
  stream_block_ = 0;
  entry_ = round_entries_end_ = 0;
  ++scans_;
}

// Fills wide_entries_ from the next block that has something for the round; false when there is none.
bool PieceBuckets::stream_blocks() {
  wide_entries_.clear();
  const auto keep = [&](const Fragment& fragment) {
    wide_entries_.push_back(
        {fragment.file, fragment.stream * map_.element_bytes, fragment.file_end - fragment.file});
  };
  while (wide_entries_.empty() && stream_block_ < list_.blocks().size()) {
    walk_blocks(stream_block_, stream_block_ + 1, round_begin(round_), round_begin(round_ + 1), keep);
    ++stream_block_;
  }
  note_peak();
  entry_ = 0;
  round_entries_end_ = wide_entries_.size();
  return round_entries_end_ > 0;
}

// Stands on an entry that has not been handed out; false when there is none any more.
bool PieceBuckets::settle() {
  while (entry_ == round_entries_end_) {
    if (mode_ == Mode::done) return false;
    if (mode_ == Mode::indexed && round_ + 1 < pass_end_) {
      ++round_;
      round_entries_end_ = bucket_end_[static_cast<std::size_t>(round_ - pass_begin_)];
      round_low_ = -1;
      continue;
    }
    if (mode_ == Mode::streaming && stream_blocks()) return true;
    next_pass();
  }
  return true;
}

Run PieceBuckets::unpack(std::size_t i) const {
  if (mode_ == Mode::streaming || !narrow_) return wide_entries_[i];
  const Narrow& entry = narrow_entries_[i];
  return {round_begin(round_) + entry.file, entry.stream * map_.element_bytes,
          entry.length * map_.element_bytes};
}

std::int64_t PieceBuckets::peek() {
  if (mode_ == Mode::fresh) return hull_.begin;
  if (!settle()) return kNoOffset;
  if (round_low_ >= 0) return round_low_;
  std::int64_t low = kNoOffset;
  if (mode_ == Mode::streaming) {
    for_each_fragment(round_begin(round_), round_begin(round_ + 1),
                      [&](const Fragment& fragment) { low = std::min(low, fragment.file); });
  } else {
    for (std::size_t i = entry_; i < round_entries_end_; ++i) low = std::min(low, unpack(i).file);
  }
  round_low_ = std::max(low, round_begin(round_));
  return round_low_;
}

std::size_t PieceBuckets::take(std::int64_t limit, std::span<Run> out) {
  assert(limit == kNoOffset || limit % round_bytes_ == 0);
  std::size_t n = 0;
  if (limit <= hull_.begin) return 0;
  while (n < out.size() && settle() && round_begin(round_) < limit) {
    const std::int64_t begin = round_begin(round_);
    const std::int64_t end = begin + round_bytes_;
    const std::size_t stop = std::min(round_entries_end_, entry_ + (out.size() - n));
    for (; entry_ < stop; ++entry_) {
      Run run = unpack(entry_);
      if (run.file < begin) {
        run.stream += begin - run.file;
        run.length -= begin - run.file;
        run.file = begin;
      }
      run.length = std::min(run.length, end - run.file);
      out[n++] = run;
    }
  }
  return n;
}

}  // namespace forebay
