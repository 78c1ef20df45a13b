// The mesh of one rank: fully threaded trees (Khokhlov, J. Comput. Phys. 143, 1998), one a root cell, held
// level by level over all trees of the rank.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "domain.hpp"
#include "parallel.hpp"

namespace amr {

inline constexpr int deepest = 6;           // levels of octs below the root cell, which is level 0
inline constexpr int units = 1 << deepest;  // of length in a root cell: the edge of a finest cell is 1
inline constexpr int variables = 2;         // gas and ash
inline constexpr int gas = 0, ash = 1;

// Cells of an oct. A root cell counts as an oct of one cell.
KOKKOS_INLINE_FUNCTION constexpr int cells_of(int level) {
  return level == 0 ? 1 : 8;
}
KOKKOS_INLINE_FUNCTION constexpr int cell_edge(int level) {
  return units >> level;
}

using Integers = Kokkos::View<std::int32_t*, Kokkos::HostSpace>;
using Reals = Kokkos::View<double*, Kokkos::HostSpace>;
using Values = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

// The octs of one level, tree by tree; those of a tree in the order of their parents' cells.
struct Level {
  Integers first;    // [trees + 1] where a tree's octs begin
  Integers tree;     // [octs] of which tree, on this rank
  Integers parent;   // [octs] cell of the level above, counted in the tree: oct * cells_of + child
  Integers refined;  // [octs] a bit a child: it has an oct in the level below
  Integers below;    // [octs] the oct of its first refined child, counted on this rank; the others follow
  std::array<Integers, 3> corner;  // [octs] the lowest, in units, from the domain's corner
  Values value;                    // [variables][cells_of][octs]

  int octs() const { return static_cast<int>(tree.extent(0)); }

  // The oct in the level below of a refined child.
  KOKKOS_INLINE_FUNCTION int oct_below(int oct, int child) const {
    return below(oct) + Kokkos::popcount(static_cast<unsigned>(refined(oct)) & ((1U << child) - 1));
  }
};

// Octs of each level below the root of each tree of a rank: [trees][deepest].
using Counts = std::vector<std::int32_t>;

struct Mesh {
  Integers root;  // [trees] number of its root cell
  std::array<Level, deepest + 1> levels;
  std::int64_t step = 0;  // done

  int trees() const { return static_cast<int>(root.extent(0)); }
  std::int64_t octs() const;  // of this rank, without root cells
};

// A view whose elements are not set.
template <class View, class... Extents>
View unset(const char* name, Extents... extents) {
  return View(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(name)), extents...);
}

// Room for `octs` octs of `level` in `trees` trees. Nothing is set.
Level make_level(int level, int trees, int octs);

// The first state: root cells only.
Mesh make_mesh(const Domain& domain, const Share& share, Space space);

// Room for trees of these sizes, which the caller fills: parent, refined, corner, value of all levels (of
// level 0 refined and value). Then `thread` sets the rest; it throws Failure where the trees do not hang
// together.
Mesh make_mesh(const Domain& domain, const Share& share, const Counts& counts);
void thread(Mesh& mesh, Space space);

Counts counts_of(const Mesh& mesh);

}  // namespace amr
