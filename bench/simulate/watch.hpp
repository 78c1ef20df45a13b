// Simulated time from when all ranks are there until the last one has done.
#pragma once

#include <cstdint>

#include "rank.hpp"
#include "ranks/communicator.hpp"

namespace forebay::simulate {

/// Collective, both ends.
class Watch {
 public:
  explicit Watch(const Communicator& ranks) : ranks_(ranks) {
    ranks_.barrier();
    begin_ = clock();
  }
  /// Seconds, on all ranks the same.
  double stop() const {
    auto nanoseconds = static_cast<std::int64_t>((clock() - begin_) * 1e9);
    ranks_.reduce({&nanoseconds, 1}, Communicator::Op::maximum);
    return static_cast<double>(nanoseconds) * 1e-9;
  }

 private:
  const Communicator& ranks_;
  double begin_;
};

}  // namespace forebay::simulate
