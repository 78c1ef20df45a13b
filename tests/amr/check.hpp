// What the tests of the mesh share: checks, the tiny mesh, and a comparison that knows nothing of digests.
#pragma once

#include <cstdio>
#include <cstring>

#include "layout.hpp"
#include "segments.hpp"
#include "step.hpp"

namespace amr_test {

inline int failures = 0;

inline void check(bool good, const char* what, int line) {
  if (good || ++failures > 20) return;
  std::fprintf(stderr, "line %d: %s\n", line, what);
}
#define CHECK(x) amr_test::check(x, #x, __LINE__)

inline amr::Domain tiny_domain() {
  return amr::Domain(amr::segment_lengths({.scale = 0.0005}));
}

inline amr::Mesh computed(MPI_Comm comm, const amr::Domain& domain, int steps,
                          amr::Space space = amr::Space::host) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  amr::Mesh mesh = amr::make_mesh(domain, amr::Share(domain, rank, ranks), space);
  amr::Stepper stepper(comm, domain, space);
  while (mesh.step < steps) stepper.step(mesh);
  return mesh;
}

// Every array of every tree, byte for byte, and the step.
inline bool same(const amr::Mesh& a, const amr::Mesh& b) {
  if (a.trees() != b.trees() || a.step != b.step || amr::counts_of(a) != amr::counts_of(b)) return false;
  for (int level = 0; level <= amr::deepest; ++level) {
    const int octs = a.levels[static_cast<std::size_t>(level)].octs();
    for (int index = 0; octs > 0 && index < amr::arrays_of(level); ++index) {
      const amr::Array x = array_of(a, level, index, 0, octs), y = array_of(b, level, index, 0, octs);
      if (std::memcmp(x.data, y.data, static_cast<std::size_t>(x.bytes())) != 0) return false;
    }
  }
  return true;
}

}  // namespace amr_test
