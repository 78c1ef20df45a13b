#include "refine.hpp"

namespace amr {
namespace {

using Levels = std::array<Level, deepest + 1>;

// Which children of each oct of level l shall be refined, as flags.
Integers decide(const Levels& levels, int l, Space space) {
  const Level cells = levels[static_cast<std::size_t>(l)];
  const Integers wanted = unset<Integers>("wanted", cells.octs());
  if (l == deepest) {
    Kokkos::deep_copy(wanted, 0);
    return wanted;
  }
  const Level finer = levels[static_cast<std::size_t>(l) + 1];
  for_each(
      space, "decide", cells.octs(), KOKKOS_LAMBDA(int oct) {
        std::int32_t flags = 0;
        for (int child = 0; child < cells_of(l); ++child) {
          bool keep = cells.value(gas, child, oct) > refine_above(l);
          if (!keep && (cells.refined(oct) >> child & 1)) {
            const int below = cells.oct_below(oct, child);
            keep = cells.value(gas, child, oct) >= refine_above(l) / 2 || finer.refined(below) != 0;
            if (l + 1 < deepest)
              for (int k = 0; k < 8; ++k) keep = keep || finer.value(gas, k, below) > refine_above(l + 1);
          }
          if (keep) flags |= 1 << child;
        }
        wanted(oct) = flags;
      });
  return wanted;
}

// The level below `upper`, which is new and of level l, as the flags of `upper` say. `came` says which oct of
// the old level each oct of `upper` was, or -1; the same comes back for the made level.
Level make_below(const Mesh& old, const Level& upper, int l, Integers& came, const Integers& wanted,
                 Space space) {
  const Level above = upper, before = old.levels[static_cast<std::size_t>(l)];
  const Level old_below = old.levels[static_cast<std::size_t>(l) + 1];
  const int octs = upper.octs(), trees = old.trees(), cells = cells_of(l), edge = cell_edge(l);
  const Integers begin = unset<Integers>("begin", octs + 1), from = came;
  sum_before(
      space, "number octs", octs,
      KOKKOS_LAMBDA(int oct) { return Kokkos::popcount(static_cast<unsigned>(above.refined(oct))); }, begin);
  Level made = make_level(l + 1, trees, begin(octs));
  const Integers source = unset<Integers>("came", begin(octs));
  for_each(
      space, "begin trees", trees + 1,
      KOKKOS_LAMBDA(int tree) { made.first(tree) = begin(above.first(tree)); });
  for_each(
      space, "make octs", octs, KOKKOS_LAMBDA(int oct) {
        above.below(oct) = begin(oct);
        int next = begin(oct);
        const int tree = above.tree(oct), in_tree = oct - above.first(tree), was = from(oct);
        for (int child = 0; child < cells; ++child) {
          if (!(above.refined(oct) >> child & 1)) continue;
          const bool had = was >= 0 && (before.refined(was) >> child & 1);
          const int origin = had ? before.oct_below(was, child) : -1;
          source(next) = origin;
          made.tree(next) = tree;
          made.parent(next) = in_tree * cells + child;
          made.refined(next) = had ? wanted(origin) : 0;
          for (std::size_t axis = 0; axis < 3; ++axis)
            made.corner[axis](next) = above.corner[axis](oct) + (child >> axis & 1) * edge;
          for (int variable = 0; variable < variables; ++variable)
            for (int k = 0; k < 8; ++k)
              made.value(variable, k, next) =
                  had ? old_below.value(variable, k, origin) : above.value(variable, child, oct);
          ++next;
        }
      });
  came = source;
  return made;
}

}  // namespace

void adapt(Mesh& mesh, Space space) {
  std::array<Integers, deepest + 1> wanted;
  for (int l = 0; l <= deepest; ++l) wanted[static_cast<std::size_t>(l)] = decide(mesh.levels, l, space);
  Levels made;
  made[0] = mesh.levels[0];  // root cells stay: but their flags, and what follows from them
  made[0].refined = wanted[0];
  made[0].below = unset<Integers>("below", mesh.trees());
  Integers came = mesh.levels[0].tree;  // each root cell was itself
  for (int l = 0; l < deepest; ++l) {
    const auto at = static_cast<std::size_t>(l);
    made[at + 1] = make_below(mesh, made[at], l, came, wanted[at + 1], space);
  }
  Kokkos::deep_copy(made[deepest].below, 0);
  mesh.levels = made;
}

}  // namespace amr
