// Where reads that go through a file in equal steps go next.
#pragma once

#include <array>
#include <cstddef>

#include "layout/extent.hpp"

namespace forebay {

/// Looks at the ranges of a file object's reads, each as long as what it touches. Several variables may be
/// read by turns: then each has steps of its own.
class Steps {
 public:
  /// Notes a read. What one of its kind will ask for next; empty: that cannot be told.
  Extent next(Extent now) {
    if (now.empty()) return {};
    const Extent guess = look(now);
    seen_[count_++ % seen_.size()] = now;
    return guess;
  }

 private:
  static constexpr std::size_t kSeen = 32;

  /// The one before the last, and so on.
  const Extent& before(std::size_t i) const { return seen_[(count_ - 1 - i) % seen_.size()]; }

  Extent look(Extent now) const {
    const std::size_t known = count_ < kSeen ? count_ : kSeen;
    // One directly after the other.
    if (known > 0 && before(0).end == now.begin) return {now.end, now.end + now.size()};
    // The same step twice.
    for (std::size_t i = 0; i < known; ++i) {
      const Extent& one = before(i);
      const std::int64_t step = now.begin - one.begin;
      if (step <= 0 || one.size() != now.size()) continue;
      for (std::size_t j = i + 1; j < known; ++j) {
        if (before(j).size() == now.size() && before(j).begin == one.begin - step)
          return {now.begin + step, now.end + step};
      }
    }
    return {};
  }

  std::array<Extent, kSeen> seen_{};
  std::size_t count_ = 0;
};

}  // namespace forebay
