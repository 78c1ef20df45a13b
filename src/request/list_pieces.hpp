// A piece list placed in the file, as RoundIndex walks it.
#pragma once

#include <cstdint>

#include "request/piece_code.hpp"
#include "request/piece_cursor.hpp"
#include "request/piece_list.hpp"
#include "request/round_index.hpp"

namespace forebay {

class ListPieces {
 public:
  static constexpr bool exact_hull = true;

  /// `list` must outlive this. `map` has been simplified: record_elements != 0 only where records have gaps.
  ListPieces(const PieceList& list, const PieceMapping& map) : list_(list), map_(map) {
    if (map_.record_elements != 0) by_record_ = FastDivide(map_.record_elements);
  }

  // Not kept: as a program ends, files may be written after a thread's memory is gone.
  void leave(std::vector<IndexEntry>&) const {}
  void take_over(std::vector<IndexEntry>&) const {}
  bool ok() const { return true; }
  std::int64_t unit() const { return map_.element_bytes; }
  std::int64_t stream_at(std::int64_t elements) const { return elements * map_.element_bytes; }
  bool fits_entry() const {
    return list_.elements() < (std::int64_t{1} << 32) &&
           list_.longest() * map_.element_bytes < (std::int64_t{1} << 31);
  }

  template <class F>
  void each(std::int64_t begin, std::int64_t end, F& f) const {
    walk_blocks(0, list_.blocks().size(), begin, end, f);
  }
  void rewind() { block_ = 0; }
  template <class F>
  bool next(std::int64_t begin, std::int64_t end, F& f) {
    if (block_ == list_.blocks().size()) return false;
    walk_blocks(block_, block_ + 1, begin, end, f);
    ++block_;
    return true;
  }

 private:
  template <bool gaps_only, bool records, class F>
  void walk(std::size_t first_block, std::size_t last_block, std::int64_t begin, std::int64_t end,
            F& f) const;
  template <class F>
  void walk_blocks(std::size_t first_block, std::size_t last_block, std::int64_t begin, std::int64_t end,
                   F& f) const {
    const bool gaps_only = list_.constant_length() != 0;
    if (map_.record_elements != 0) {
      gaps_only ? walk<true, true>(first_block, last_block, begin, end, f)
                : walk<false, true>(first_block, last_block, begin, end, f);
    } else {
      gaps_only ? walk<true, false>(first_block, last_block, begin, end, f)
                : walk<false, false>(first_block, last_block, begin, end, f);
    }
  }
  std::int64_t file_of(std::int64_t element) const {
    if (map_.record_elements == 0) return map_.base + element * map_.element_bytes;
    const std::int64_t record = by_record_(element);
    return map_.base + record * map_.record_stride_bytes +
           (element - record * map_.record_elements) * map_.element_bytes;
  }

  const PieceList& list_;
  const PieceMapping map_;
  FastDivide by_record_{1};
  std::size_t block_ = 0;  // the next one of rewind() and next()
};

// Fragments are cut at records, but not at rounds.
template <bool gaps_only, bool records, class F>
void ListPieces::walk(std::size_t first_block, std::size_t last_block, std::int64_t begin, std::int64_t end,
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
    const Extent range{file_of(block.begin), file_of(block.end - 1) + element_bytes};
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

}  // namespace forebay
