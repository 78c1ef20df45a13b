#include "mesh.hpp"

#include <fmt/format.h>

#include <limits>

#include "agree.hpp"

namespace amr {
namespace {

// Trees, their numbers and places.
Mesh plant(const Domain& domain, const Share& share) {
  Mesh mesh;
  mesh.root = unset<Integers>("root", share.trees());
  Level& top = mesh.levels[0] = make_level(0, share.trees(), share.trees());
  int tree = 0;
  for (const int segment : share.segments())
    for (int root = domain.begin(segment); root < domain.begin(segment + 1); ++root, ++tree) {
      mesh.root(tree) = root;
      top.first(tree) = top.tree(tree) = tree;
      top.parent(tree) = top.refined(tree) = top.below(tree) = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) top.corner[axis](tree) = domain.place(root)[axis] * units;
    }
  top.first(tree) = tree;
  return mesh;
}

}  // namespace

std::int64_t Mesh::octs() const {
  std::int64_t sum = 0;
  for (int level = 1; level <= deepest; ++level) sum += levels[static_cast<std::size_t>(level)].octs();
  return sum;
}

Level make_level(int level, int trees, int octs) {
  Level made;
  made.first = unset<Integers>("first", trees + 1);
  made.tree = unset<Integers>("tree", octs);
  made.parent = unset<Integers>("parent", octs);
  made.refined = unset<Integers>("refined", octs);
  made.below = unset<Integers>("below", octs);
  for (Integers& corner : made.corner) corner = unset<Integers>("corner", octs);
  made.value = unset<Values>("value", variables, cells_of(level), octs);
  return made;
}

Mesh make_mesh(const Domain& domain, const Share& share, Space space) {
  Mesh mesh = plant(domain, share);
  const Values value = mesh.levels[0].value;
  const Integers number = mesh.root;
  for_each(
      space, "first state", mesh.trees(), KOKKOS_LAMBDA(int tree) {
        const auto mixed =
            static_cast<std::uint32_t>(number(tree)) * 2654435761U;  // Knuth's multiplicative hash
        value(gas, 0, tree) = 0.01 * (mixed >> 22) / 1024;
        value(ash, 0, tree) = 0;
      });
  for (int level = 1; level <= deepest; ++level) {
    Level& empty = mesh.levels[static_cast<std::size_t>(level)] = make_level(level, mesh.trees(), 0);
    Kokkos::deep_copy(empty.first, 0);
  }
  return mesh;
}

Mesh make_mesh(const Domain& domain, const Share& share, const Counts& counts) {
  Mesh mesh = plant(domain, share);
  for (int level = 1; level <= deepest; ++level) {
    std::int64_t octs = 0;
    const Integers first = unset<Integers>("first", mesh.trees() + 1);
    for (int tree = 0; tree <= mesh.trees(); ++tree) {
      if (octs > std::numeric_limits<int>::max()) throw Failure("more octs than a rank can hold");
      first(tree) = static_cast<int>(octs);
      if (tree == mesh.trees()) break;
      octs += counts[static_cast<std::size_t>(tree * deepest + level - 1)];
    }
    Level& made = mesh.levels[static_cast<std::size_t>(level)] =
        make_level(level, mesh.trees(), static_cast<int>(octs));
    made.first = first;
    for (int tree = 0; tree < mesh.trees(); ++tree)
      for (int oct = first(tree); oct < first(tree + 1); ++oct) made.tree(oct) = tree;
  }
  return mesh;
}

void thread(Mesh& mesh, Space space) {
  for (int l = 0; l <= deepest; ++l) {
    Level& level = mesh.levels[static_cast<std::size_t>(l)];
    const int octs = level.octs();
    const Integers refined = level.refined, begin = unset<Integers>("begin", octs + 1);
    for (int oct = 0; oct < octs; ++oct)
      if (refined(oct) < 0 || refined(oct) >> cells_of(l) != 0)
        throw Failure(fmt::format("a damaged tree: an oct of level {} has flags {:#x}", l, refined(oct)));
    sum_before(
        space, "thread", octs,
        KOKKOS_LAMBDA(int oct) { return Kokkos::popcount(static_cast<unsigned>(refined(oct))); }, begin);
    level.below = Kokkos::subview(begin, Kokkos::pair<int, int>(0, octs));
    for (int tree = 0; tree < mesh.trees(); ++tree) {
      const bool fits =
          l == deepest ? begin(level.first(tree)) == begin(level.first(tree + 1))
                       : begin(level.first(tree)) == mesh.levels[static_cast<std::size_t>(l) + 1].first(tree);
      if (!fits || (l < deepest && begin(octs) != mesh.levels[static_cast<std::size_t>(l) + 1].octs()))
        throw Failure(
            fmt::format("a damaged tree: root cell {} has other octs in level {} than its flags say",
                        mesh.root(tree), l + 1));
    }
  }
}

Counts counts_of(const Mesh& mesh) {
  Counts counts;
  counts.reserve(static_cast<std::size_t>(mesh.trees()) * deepest);
  for (int tree = 0; tree < mesh.trees(); ++tree)
    for (std::size_t level = 1; level <= deepest; ++level)
      counts.push_back(mesh.levels[level].first(tree + 1) - mesh.levels[level].first(tree));
  return counts;
}

}  // namespace amr
