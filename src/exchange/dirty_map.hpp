// Exactly which bytes of a window were put: bits, one for each granule of the window, set by runs and read
// back as runs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "request/run.hpp"

namespace forebay {

/// Words of a bitmap whose being touched one summary byte tells: readers skip 512 B of bits at a look.
inline constexpr std::int64_t kSummaryWords = 64;

/// Sets the bits of `runs`. Bit i stands for window bytes [i << shift, (i + 1) << shift) after `origin`; runs
/// begin and end on such boundaries. `summary` has a byte for every kSummaryWords words.
inline void mark_runs(std::uint64_t* words, std::uint8_t* summary, std::span<const Run> runs,
                      std::int64_t origin, int shift) {
  for (const Run& run : runs) {
    const auto first = static_cast<std::uint64_t>(run.file - origin) >> shift;
    const auto count = static_cast<std::uint64_t>(run.length) >> shift;
    std::uint64_t word = first >> 6;
    if (count == 1) {
      words[word] |= std::uint64_t{1} << (first & 63);
      summary[word / kSummaryWords] = 1;
      continue;
    }
    if (count == 0) continue;
    const std::uint64_t last = first + count - 1;
    const std::uint64_t last_word = last >> 6;
    const std::uint64_t head = ~std::uint64_t{0} << (first & 63);
    const std::uint64_t tail = ~std::uint64_t{0} >> (63 - (last & 63));
    if (word == last_word) {
      words[word] |= head & tail;
      summary[word / kSummaryWords] = 1;
      continue;
    }
    words[word] |= head;
    std::memset(words + word + 1, 0xff, (last_word - word - 1) * sizeof(std::uint64_t));
    words[last_word] |= tail;
    std::memset(summary + word / kSummaryWords, 1, last_word / kSummaryWords - word / kSummaryWords + 1);
  }
}

/// Sets the bits of all granules that the runs touch, wherever they begin and end. Neighbouring runs of a
/// reader mostly touch the same few.
inline void mark_touched(std::uint64_t* words, std::uint8_t* summary, std::span<const Run> runs,
                         std::int64_t origin, int shift) {
  std::uint64_t known = ~std::uint64_t{0};
  for (const Run& run : runs) {
    const auto begin = static_cast<std::uint64_t>(run.file - origin);
    const std::uint64_t first = begin >> shift;
    const std::uint64_t last = (begin + static_cast<std::uint64_t>(run.length) - 1) >> shift;
    if (first == known && last == known) continue;
    for (std::uint64_t bit = first; bit <= last; ++bit) {
      words[bit >> 6] |= std::uint64_t{1} << (bit & 63);
      summary[(bit >> 6) / kSummaryWords] = 1;
    }
    known = last;
  }
}

/// The first position in [from, end) whose bit is `set`; end if there is none.
inline std::int64_t find_bit(const std::uint64_t* words, std::int64_t from, std::int64_t end, bool set) {
  const std::uint64_t unwanted = set ? 0 : ~std::uint64_t{0};
  while (from < end) {
    const std::uint64_t rest = (words[from >> 6] ^ unwanted) >> (from & 63);
    if (rest != 0) return std::min(end, from + std::countr_zero(rest));
    from = (from | 63) + 1;
  }
  return end;
}

/// Calls f(first_bit, bits) for every maximal run of set bits in [begin, end), ascending.
template <class F>
void for_each_bit_run(const std::uint64_t* words, std::int64_t begin, std::int64_t end, F&& f) {
  for (std::int64_t at = begin; (at = find_bit(words, at, end, true)) < end;) {
    const std::int64_t stop = find_bit(words, at, end, false);
    f(at, stop - at);
    at = stop;
  }
}

/// Calls f(word, bits) for the words that bits [begin, end) touch.
template <class F>
void for_each_word(std::int64_t begin, std::int64_t end, F&& f) {
  while (begin < end) {
    const std::int64_t word = begin >> 6;
    const std::int64_t word_end = std::min(end, (word + 1) << 6);
    f(word, (~std::uint64_t{0} >> (64 - (word_end - begin))) << (begin & 63));
    begin = word_end;
  }
}

}  // namespace forebay
