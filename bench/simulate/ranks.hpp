// The ranks of a simulated machine, as the engine sees them.
#pragma once

#include <memory>

#include "mpi.h"
#include "ranks/communicator.hpp"

namespace forebay::simulate {

/// What each node has; its ranks are bound to processors of their own, in order.
struct NodeHardware {
  int domains = 1;
  int cards = 1;  ///< on domains by turns
};
Machine machine_with(const NodeHardware& hardware, int processors);

/// Over a communicator of SMPI, by its blocking operations: those are the ones it has good algorithms for. A
/// node's memory is the heap. `node`: this rank's; `machine`: what it has, and outlives this; `processor`:
/// this rank's.
std::unique_ptr<Communicator> make_ranks(MPI_Comm comm, int node, const Machine& machine, int processor);

}  // namespace forebay::simulate
