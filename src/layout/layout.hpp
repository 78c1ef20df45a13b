// Where bytes belong: stripes, their owners, and the rounds in which a flush passes over the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "request/run.hpp"

namespace forebay {

/// A part of one round that one owner writes: bytes [begin, end) of the file, inside one stripe.
struct Segment {
  std::int64_t begin;
  std::int64_t end;
  int owner;
};

/// Cyclic file domains. Offsets and sizes in bytes, owners numbered 0 … owners-1.
///
/// owner, segment and displacement are equations 1–3 of TCIO ("A Transparent Collective I/O Implementation"):
/// by division and remainder, so that nobody keeps a table. A round is a window of consecutive file bytes
/// that begins at a multiple of round_bytes; it holds whole stripes, or a stripe takes several rounds with
/// the same owner.
class Layout {
 public:
  Layout(std::int64_t stripe_bytes, std::int64_t round_bytes, int owners)
      : stripe_(stripe_bytes), round_(round_bytes), owners_(owners) {}

  std::int64_t stripe_bytes() const { return stripe_; }
  std::int64_t round_bytes() const { return round_; }
  int owners() const { return owners_; }

  int owner(std::int64_t offset) const { return static_cast<int>((offset / stripe_) % owners_); }
  std::int64_t segment(std::int64_t offset) const { return offset / stripe_ / owners_; }
  std::int64_t displacement(std::int64_t offset) const { return offset % stripe_; }

  /// First offset of the round that holds `offset`.
  std::int64_t round_begin(std::int64_t offset) const { return offset / round_ * round_; }

  /// Calls f(Segment) for the parts of the round at `base` that lie in `hull`, in ascending order.
  template <class F>
  void for_each_segment(std::int64_t base, Extent hull, F&& f) const {
    const std::int64_t end = std::min(base + round_, hull.end);
    for (std::int64_t at = std::max(base, hull.begin); at < end;) {
      const std::int64_t next = std::min(end, (at / stripe_ + 1) * stripe_);
      f(Segment{at, next, owner(at)});
      at = next;
    }
  }

 private:
  std::int64_t stripe_;
  std::int64_t round_;
  int owners_;
};

/// The round size for a flush. `wanted`: the hint, or 0. The result is a multiple of 4096, a whole number of
/// stripes or, where a stripe does not fit `most` (the bound that memory sets), a part of one.
inline std::int64_t choose_round_bytes(std::int64_t stripe, int owners, std::int64_t wanted,
                                       std::int64_t most) {
  constexpr std::int64_t page = 4096;
  // Below that the barrier of a round shows; above, the pages that every rank touches for the first time.
  constexpr std::int64_t least = std::int64_t{1} << 20;
  most = std::max(page, most / page * page);
  std::int64_t size = wanted > 0 ? wanted : std::max(stripe * owners, least);
  size = std::min(size, most);
  if (size >= stripe) {
    // Whole stripes, and a page multiple also for odd stripes: take as many stripes as keep both.
    std::int64_t step = stripe;
    while (step % page != 0) step += step;
    return step <= size ? size / step * step : std::max(page, size / page * page);
  }
  // A part of a stripe: equal parts waste no round on a remainder.
  const std::int64_t parts = (stripe + size - 1) / size;
  return std::max(page, ((stripe + parts - 1) / parts + page - 1) / page * page);
}

}  // namespace forebay
