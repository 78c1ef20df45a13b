// A queue of writes as one point in time.
#include "token_bucket.hpp"

#include <algorithm>

namespace forebay::bench {

TokenBucket::Clock::time_point TokenBucket::take(std::int64_t bytes, Clock::time_point now) {
  const std::chrono::duration<double> takes(static_cast<double>(bytes) / rate_);
  through_ = std::max(through_, now - lead) + std::chrono::duration_cast<Clock::duration>(takes);
  return through_;
}

}  // namespace forebay::bench
