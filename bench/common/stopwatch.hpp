// Measures a step over all ranks.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace forebay::bench {

// The same for all processes of one running machine.
std::string machine_id();

// From the earliest start to the latest end. Collective.
class Stopwatch {
 public:
  explicit Stopwatch(MPI_Comm comm);

  double operator()(const std::function<void()>& step) const;  // seconds, after a barrier

 private:
  MPI_Comm comm_;
  bool one_clock_ = false;
};

}  // namespace forebay::bench
