// Refinement and coarsening.
#pragma once

#include "mesh.hpp"

namespace amr {

// A leaf with more gas than this is refined; an oct of leaves is taken away where their mean has fallen below
// half of it, and none of them is to be refined. It grows as a source's density does towards its middle.
KOKKOS_INLINE_FUNCTION constexpr double refine_above(int level) {
  return 0.5 * (1 << (2 * level));
}

// Adapts the trees by one level at most: new children inherit their parent's values, a parent keeps the mean
// of the children that it loses. Neighbours may differ by more than one level. New octs get their places by
// sums over the octs before them, so that the order depends on nothing but the trees.
void adapt(Mesh& mesh, Space space);

}  // namespace amr
