// A cubed-sphere atmosphere's decompositions, made up without a data file: the columns of a spectral-element
// grid, its elements ordered along a space-filling curve and cut into ranks, the physics columns dealt out in
// chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "decomposition.hpp"

namespace forebay::bench {

class CubedSphere {
 public:
  // ne x ne elements on each face, 4 x 4 Gauss-Lobatto points in each, those on shared edges counted once.
  CubedSphere(int ne, int levels);

  std::int64_t columns() const { return columns_; }

  // D1: (ncol), the dynamics' columns, whole elements. D2: (ncol) and D3: (lev, ncol), the physics' columns.
  std::vector<Decomposition> cut(int rank, int ranks) const;

 private:
  std::vector<Piece> dynamics_columns(int rank, int ranks) const;
  std::vector<std::vector<std::int64_t>> physics_chunks(int rank, int ranks) const;

  int levels_;
  std::int64_t columns_ = 0;
  std::vector<Piece> element_columns_;        // by element: the columns numbered there first
  std::vector<int> curve_;                    // the elements in the order of the curve
  std::vector<std::int64_t> curve_position_;  // by column: the place of its element on the curve
};

}  // namespace forebay::bench
