// One step in time of the mesh of all ranks.
#pragma once

#include <mpi.h>

#include "mesh.hpp"

namespace amr {

// Computes the mesh's steps. Holds what is the same in all of them.
class Stepper {
 public:
  // `domain` outlives it.
  Stepper(MPI_Comm comm, const Domain& domain, Space space);

  // Collective: leaves pour, react and take part in the exchange with neighbouring root cells; parents become
  // the mean of their children; the mesh adapts (refine.hpp). The result is the same on any number of ranks.
  void step(Mesh& mesh);

 private:
  void exchange(const Mesh& mesh);

  MPI_Comm comm_;
  const Domain& domain_;
  Space space_;
  std::vector<int> counts_, displacements_;  // of trees, a rank
  std::vector<int> order_;                   // [roots] root cell of what is gathered
  std::vector<double> gathered_;
  Reals mean_;  // [roots] gas in each root cell
};

}  // namespace amr
