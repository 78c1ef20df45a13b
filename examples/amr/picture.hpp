// A slice through the mesh as a picture: the gas in the cells in colour, and the cells' borders.
#pragma once

#include <mpi.h>

#include <string>

#include "mesh.hpp"

namespace amr {

struct PictureSettings {
  int pixels = 1100;    // width and height
  double height = 0.5;  // of the slice in the domain, 0 to 1
};

// Collective: rank 0 gathers the slice and draws it. Throws Failure on all ranks.
void draw(MPI_Comm comm, const std::string& path, const Domain& domain, const Mesh& mesh,
          const PictureSettings& settings);

}  // namespace amr
