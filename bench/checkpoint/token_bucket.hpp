// One rate for many writers.
#pragma once

#include <chrono>
#include <cstdint>

namespace forebay::bench {

// Writes that follow each other at a rate, in the order in which they come. A short lead lets small ones pass
// without a wait each; over any longer time the rate holds for their sum.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TokenBucket(double bytes_per_second) : rate_(bytes_per_second) {}

  // When a write of so many bytes that begins `now` is through.
  Clock::time_point take(std::int64_t bytes, Clock::time_point now);

 private:
  static constexpr std::chrono::milliseconds lead{2};

  double rate_;
  Clock::time_point through_{};  // when all writes before are
};

}  // namespace forebay::bench
