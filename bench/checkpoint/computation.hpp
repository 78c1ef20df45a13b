// What the program does when it does not write.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace forebay::bench {

// Work in a rank's own memory, as a program's time steps: whoever takes processor or memory from it meanwhile
// makes it take longer.
class Computation {
 public:
  explicit Computation(MPI_Comm comm);

  // So many sweeps over the memory; the ranks then agree, as on the length of a step. Collective.
  void run(std::int64_t sweeps);
  // Seconds a sweep takes while all ranks make them: of so many that they take 50 ms, the fastest of three
  // times. Collective.
  double seconds_of_a_sweep();

 private:
  MPI_Comm comm_;
  std::vector<double> field_;
  double agreed_ = 0;
};

}  // namespace forebay::bench
