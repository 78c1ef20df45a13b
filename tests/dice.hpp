// Random choices that are the same on every machine: a generator of its own, since std's distributions
// differ.
#pragma once

#include <cstddef>
#include <cstdint>

namespace test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0xD6E8FEB86659FD93u) { state_ = next(); }
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 … n-1
  std::int64_t below(std::int64_t n) {
    return n <= 1 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  /// low … high
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class C>
  auto& pick(C& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(choices.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace test
