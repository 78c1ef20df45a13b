/** @file
 * The kernels of forebay/kokkos.hpp, not for programs: between the elements of a strided view and a piece of
 * staging memory, converted and turned round on the way. */
#ifndef FOREBAY_DETAIL_VIEW_KERNELS_HPP
#define FOREBAY_DETAIL_VIEW_KERNELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// @cond INTERNAL
namespace forebay::detail {

template <std::size_t Bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = std::uint8_t;
};
template <>
struct WordOf<2> {
  using type = std::uint16_t;
};
template <>
struct WordOf<4> {
  using type = std::uint32_t;
};
template <>
struct WordOf<8> {
  using type = std::uint64_t;
};

// Shifts: compilers make one instruction of them, on devices, too.
KOKKOS_INLINE_FUNCTION std::uint8_t turned(std::uint8_t w) {
  return w;
}
KOKKOS_INLINE_FUNCTION std::uint16_t turned(std::uint16_t w) {
  return static_cast<std::uint16_t>((w << 8) | (w >> 8));
}
KOKKOS_INLINE_FUNCTION std::uint32_t turned(std::uint32_t w) {
  return (w << 24) | ((w & 0xff00u) << 8) | ((w >> 8) & 0xff00u) | (w >> 24);
}
KOKKOS_INLINE_FUNCTION std::uint64_t turned(std::uint64_t w) {
  return (static_cast<std::uint64_t>(turned(static_cast<std::uint32_t>(w))) << 32) |
         turned(static_cast<std::uint32_t>(w >> 32));
}

/// What an element T of memory is in staging: F of the file, or its turned word.
template <class T, class F, bool Swap>
struct Element {
  using Staged = F;
  KOKKOS_INLINE_FUNCTION static void pack(const T& from, F& to) {
    if constexpr (std::is_same_v<T, F>)
      to = from;
    else
      to = static_cast<F>(from);
  }
  KOKKOS_INLINE_FUNCTION static void unpack(const F& from, T& to) {
    if constexpr (std::is_same_v<T, F>)
      to = from;
    else
      to = static_cast<T>(from);
  }
};

// A turned number is kept as a word: as a number it could be one that is not copied bit for bit.
template <class T, class F>
struct Element<T, F, true> {
  using Staged = typename WordOf<sizeof(F)>::type;
  KOKKOS_INLINE_FUNCTION static void pack(const T& from, Staged& to) {
    const F number = static_cast<F>(from);
    Staged word;
    memcpy(&word, &number, sizeof word);
    to = turned(word);
  }
  KOKKOS_INLINE_FUNCTION static void unpack(const Staged& from, T& to) {
    const Staged word = turned(from);
    F number;
    memcpy(&number, &word, sizeof number);
    to = static_cast<T>(number);
  }
};

inline constexpr int kMostRank = 8;

/// A view without its type: dimensions as few as describe it, the last one fastest in the stream.
struct Strided {
  int rank = 0;
  std::int64_t extent[kMostRank] = {};
  std::int64_t stride[kMostRank] = {};

  /// Adds the next slower dimension. Those of one element are passed over, and those that continue each other
  /// joined.
  void add_outer(std::int64_t count, std::int64_t step) {
    if (count == 1) return;
    if (rank > 0 && step == stride[kMostRank - rank] * extent[kMostRank - rank]) {
      extent[kMostRank - rank] *= count;
      return;
    }
    ++rank;
    extent[kMostRank - rank] = count;
    stride[kMostRank - rank] = step;
  }
  /// One after the other.
  bool contiguous() const { return rank == 0 || (rank == 1 && stride[kMostRank - 1] == 1); }
};

/// Elements [first, first + count) of the stream, in parts of `part` elements: one for each thread of a
/// device, so that neighbours touch neighbours; many for a host's, which steps along rows. R: as many
/// dimensions as the view has, at least one.
template <class T, class F, bool Swap, bool Pack, int R>
struct MovePiece {
  using E = Element<std::remove_const_t<T>, F, Swap>;
  using Staged = std::conditional_t<Pack, typename E::Staged, const typename E::Staged>;

  T* data;
  Staged* staged;
  std::int64_t count;
  std::int64_t part;
  std::int64_t extent[R];
  std::int64_t stride[R];
  std::int64_t start[R];  // where the piece begins

  MovePiece(T* view, const Strided& shape, std::int64_t first, std::int64_t elements, Staged* memory,
            std::int64_t elements_of_part)
      : data(view), staged(memory), count(elements), part(elements_of_part) {
    for (int d = R - 1; d >= 0; --d) {
      const int from = kMostRank - R + d;
      const bool there = from >= kMostRank - shape.rank;
      extent[d] = there ? shape.extent[from] : 1;
      stride[d] = there ? shape.stride[from] : 0;
      start[d] = d > 0 ? first % extent[d] : first;
      first /= extent[d];
    }
  }

  std::int64_t parts() const { return (count + part - 1) / part; }

  KOKKOS_INLINE_FUNCTION void move(std::int64_t at, std::int64_t place) const {
    if constexpr (Pack)
      E::pack(data[at], staged[place]);
    else
      E::unpack(staged[place], data[at]);
  }

  // Division is dear on a device, and needed only where an index runs over; with 32 bits where they do.
  KOKKOS_INLINE_FUNCTION static std::int64_t carry(std::int64_t& index, std::int64_t extent_) {
    if (index < extent_) return 0;
    std::int64_t quotient;
    if (((index | extent_) >> 31) == 0) {
      quotient = static_cast<std::uint32_t>(index) / static_cast<std::uint32_t>(extent_);
    } else {
      quotient = index / extent_;
    }
    index -= quotient * extent_;
    return quotient;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    std::int64_t place = item * part;
    std::int64_t index[R];
    std::int64_t over = place;
    for (int d = R - 1; d > 0; --d) {
      index[d] = start[d] + over;
      over = carry(index[d], extent[d]);
    }
    index[0] = start[0] + over;
    std::int64_t at = 0;
    for (int d = 0; d < R; ++d) at += index[d] * stride[d];
    if (part == 1) {
      move(at, place);
      return;
    }
    std::int64_t left = count - place < part ? count - place : part;
    const std::int64_t step = stride[R - 1];
    for (;;) {
      const std::int64_t room = extent[R - 1] - index[R - 1];
      const std::int64_t row = left < room ? left : room;
      if (step == 1) {
        for (std::int64_t i = 0; i < row; ++i) move(at + i, place + i);
      } else {
        for (std::int64_t i = 0; i < row; ++i) move(at + i * step, place + i);
      }
      left -= row;
      if (left == 0) return;
      place += row;
      // The next row.
      at -= index[R - 1] * step;
      index[R - 1] = 0;
      for (int d = R - 2; d >= 0; --d) {
        at += stride[d];
        if (++index[d] < extent[d] || d == 0) break;
        at -= extent[d] * stride[d];
        index[d] = 0;
      }
    }
  }
};

}  // namespace forebay::detail
/// @endcond

#endif  // FOREBAY_DETAIL_VIEW_KERNELS_HPP
