// How a piece list is spelled: the one place that knows the codes of 16-bit words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace forebay::piece_code {

// Gaps alone (all lengths equal): a gap, or one of these, the escapes being followed by a gap of 32 or 64
// bits.
inline constexpr std::uint16_t gap_end = 0xFFFF;
inline constexpr std::uint16_t gap_far = 0xFFFE;
inline constexpr std::uint16_t gap_medium = 0xFFFD;

// Pairs: gap, length. Length 0 is an escape, told by its gap word: the end; gap and length of 64 bits each;
// or, for any other word, that word is the length and a gap of 32 bits follows.
inline constexpr std::uint16_t pair_end = 0;
inline constexpr std::uint16_t pair_far = 0xFFFF;

/// Words of the longest spelling of a piece.
inline constexpr std::size_t longest = 10;

template <class Int>
inline Int read(const std::uint16_t* at) {
  Int value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Reads the piece at `at` and steps over it; false, without a step, at the end. `length` keeps what it holds
/// when gaps_only.
template <bool gaps_only>
inline bool next(const std::uint16_t*& at, std::int64_t& gap, std::int64_t& length) {
  if constexpr (gaps_only) {
    const std::uint16_t word = *at;
    if (word < gap_medium) [[likely]] {
      gap = word;
      at += 1;
      return true;
    }
    if (word == gap_end) return false;
    if (word == gap_medium) {
      gap = read<std::int32_t>(at + 1);
      at += 3;
    } else {
      gap = read<std::int64_t>(at + 1);
      at += 5;
    }
    return true;
  } else {
    gap = at[0];
    length = at[1];
    if (length != 0) [[likely]] {
      at += 2;
      return true;
    }
    if (gap == pair_end) return false;
    if (gap == pair_far) {
      gap = read<std::int64_t>(at + 2);
      length = read<std::int64_t>(at + 6);
      at += 10;
    } else {
      length = gap;
      gap = read<std::int32_t>(at + 2);
      at += 4;
    }
    return true;
  }
}

}  // namespace forebay::piece_code
