// Moving bytes in small pieces, and turning elements round on the way: the innermost loops of the sources.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace forebay {

inline std::uint8_t byte_swap(std::uint8_t value) {
  return value;
}
inline std::uint16_t byte_swap(std::uint16_t value) {
  return __builtin_bswap16(value);
}
inline std::uint32_t byte_swap(std::uint32_t value) {
  return __builtin_bswap32(value);
}
inline std::uint64_t byte_swap(std::uint64_t value) {
  return __builtin_bswap64(value);
}

template <class Word>
inline Word load(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <class Word>
inline void store(std::byte* to, Word word) {
  std::memcpy(to, &word, sizeof word);
}

template <class Word>
inline void swap_one(const std::byte* from, std::byte* to) {
  store(to, byte_swap(load<Word>(from)));
}

/// Copies length > 0 bytes that do not overlap. Short lengths are two moves that may overlap each other: no
/// call, no loop.
inline void copy_bytes(const std::byte* from, std::byte* to, std::size_t length) {
  struct Wide {
    std::uint64_t low, high;
  };
  const auto both_ends = [&]<class Word>(Word head) {
    head = load<Word>(from);
    const Word tail = load<Word>(from + length - sizeof(Word));
    store(to, head);
    store(to + length - sizeof(Word), tail);
  };
  if (length > 2 * sizeof(Wide)) {
    std::memcpy(to, from, length);
  } else if (length >= sizeof(Wide)) {
    both_ends(Wide{});
  } else if (length >= 8) {
    both_ends(std::uint64_t{});
  } else if (length >= 4) {
    both_ends(std::uint32_t{});
  } else {
    to[0] = from[0];
    if (length > 1) to[1] = from[1];
    if (length > 2) to[2] = from[2];
  }
}

/// Turns `count` elements round. `from` and `to` must not overlap, unless they are the same. Words of eight
/// bytes are the unit of work: x86-64's baseline has no byte shuffle, and so a compiler's vectors are no
/// faster.
template <class Word>
inline void swap_many(const std::byte* from, std::byte* to, std::size_t count) {
  static_assert(sizeof(Word) > 1);
  if constexpr (sizeof(Word) == 4) {
    for (; count >= 2; count -= 2, from += 8, to += 8) {
      store(to, std::rotl(byte_swap(load<std::uint64_t>(from)), 32));
    }
    if (count != 0) swap_one<Word>(from, to);
  } else {
    for (; count > 0; --count, from += sizeof(Word), to += sizeof(Word)) swap_one<Word>(from, to);
  }
}

}  // namespace forebay
