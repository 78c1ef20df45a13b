// The ranks of a simulated machine, as the engine sees them.
#pragma once

#include <memory>

#include "mpi.h"
#include "ranks/communicator.hpp"

namespace forebay::simulate {

/// Over a communicator of SMPI, by its blocking operations: those are the ones it has good algorithms for. A
/// node's memory is the heap. `node`: this rank's.
std::unique_ptr<Communicator> make_ranks(MPI_Comm comm, int node);

}  // namespace forebay::simulate
