// One number for the state of all ranks.
#pragma once

#include <mpi.h>

#include "mesh.hpp"

namespace amr {

// Collective: depends on every bit of structure and values, on the step, and not on which rank has which
// tree.
std::uint64_t digest(MPI_Comm comm, const Mesh& mesh, Space space);

}  // namespace amr
