// What a rank says of its requests when a collective call begins.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "layout/file_domains.hpp"

namespace forebay {

struct Reach {
  Extent hull{kNoOffset, 0};
  /// The largest power of two, at most 4096, that divides the begin and length of every run, and a stripe.
  std::int64_t alignment;

  explicit Reach(const FileDomains& layout)
      : alignment(std::min(std::int64_t{4096}, layout.stripe_bytes() & -layout.stripe_bytes())) {}

  template <class Request>
  Reach(const FileDomains& layout, std::span<const Request> requests) : Reach(layout) {
    for (const Request& request : requests) add(request.cursor->hull(), request.cursor->alignment());
  }

  void add(const Extent& other, std::int64_t other_alignment) {
    hull = {std::min(hull.begin, other.begin), std::max(hull.end, other.end)};
    alignment = std::min(alignment, other_alignment);
  }
};

inline int shift_of(std::int64_t alignment) {
  return std::countr_zero(static_cast<std::uint64_t>(alignment));
}

}  // namespace forebay
