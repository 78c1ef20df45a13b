#include "step.hpp"

#include "refine.hpp"
#include "source.hpp"

namespace amr {
namespace {

constexpr double spread = 0.05;   // between neighbouring root cells, a step
constexpr double settle = 0.1;    // towards the profile that the neighbours give
constexpr double burn = 0.1;      // of gas by ash
constexpr double make_ash = 0.2;  // where there is gas
constexpr double lose_gas = 0.15, lose_ash = 0.1;

// What the surroundings of a tree do to its cells.
struct Surroundings {
  Reals mean, flow;           // [trees] of its root cell; what comes from the neighbours a step
  std::array<Reals, 3> rise;  // [trees] of the mean along an axis, a root cell
};

Surroundings look_around(const Mesh& mesh, const Domain& domain, const Reals& means, Space space) {
  Surroundings around{unset<Reals>("mean", mesh.trees()), unset<Reals>("flow", mesh.trees()), {}};
  for (Reals& rise : around.rise) rise = unset<Reals>("rise", mesh.trees());
  const Integers root = mesh.root;
  const Domain* where = &domain;
  for_each(
      space, "surroundings", mesh.trees(), KOKKOS_LAMBDA(int tree) {
        const double own = means(root(tree));
        double flow = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          double beside[2];
          for (int side = 0; side < 2; ++side) {
            Place place = where->place(root(tree));
            place[axis] += 2 * side - 1;
            const int neighbour = where->root_at(place[0], place[1], place[2]);
            beside[side] =
                neighbour < 0 ? own : means(neighbour);  // nothing flows through the domain's border
            flow += spread * (beside[side] - own);
          }
          around.rise[axis](tree) = (beside[1] - beside[0]) / 2;
        }
        around.mean(tree) = own;
        around.flow(tree) = flow;
      });
  return around;
}

void advance_leaves(const Level& level, int l, const Mesh& mesh, const Surroundings& around, Space space) {
  const Level cells = level;
  const std::array<Integers, 3> root_corner = mesh.levels[0].corner;
  const std::int64_t step = mesh.step;
  const int octs = level.octs(), edge = cell_edge(l);
  for_each(
      space, "advance", octs * cells_of(l), KOKKOS_LAMBDA(int i) {
        const int child = i / octs, oct = i % octs, tree = cells.tree(oct);
        if (cells.refined(oct) >> child & 1) return;
        double point[3], profile = around.mean(tree);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const int corner = cells.corner[axis](oct) + (child >> axis & 1) * edge;
          point[axis] = (corner + edge * 0.5) / units;
          const double middle = (root_corner[axis](tree) + units * 0.5) / units;
          profile += around.rise[axis](tree) * (point[axis] - middle);
        }
        if (profile < 0) profile = 0;
        const double g = cells.value(gas, child, oct), a = cells.value(ash, child, oct);
        // What flows out comes from the cells that have it.
        const double flow = around.flow(tree) * (around.flow(tree) < 0 ? g / around.mean(tree) : 1);
        cells.value(gas, child, oct) =
            g + (flow + settle * (profile - g) + poured(point, step) - burn * a * g - lose_gas * g);
        cells.value(ash, child, oct) = a + (make_ash * g / (1 + g) - lose_ash * a);
      });
}

// The mean of an oct's cells, in pairs, which gives back the value of a cell that all of them inherited.
KOKKOS_INLINE_FUNCTION double mean_of(const Values& value, int variable, int oct) {
  const auto pair = [&](int k) { return value(variable, k, oct) + value(variable, k + 1, oct); };
  return ((pair(0) + pair(2)) + (pair(4) + pair(6))) / 8;
}

// Refined cells become the mean of the cells in them.
void restrict_to(const Level& upper, int l, const Level& lower, Space space) {
  const Level cells = upper, below = lower;
  const int octs = upper.octs();
  for_each(
      space, "restrict", octs * cells_of(l), KOKKOS_LAMBDA(int i) {
        const int child = i / octs, oct = i % octs;
        if (!(cells.refined(oct) >> child & 1)) return;
        const int finer = cells.oct_below(oct, child);
        for (int variable = 0; variable < variables; ++variable)
          cells.value(variable, child, oct) = mean_of(below.value, variable, finer);
      });
}

}  // namespace

Stepper::Stepper(MPI_Comm comm, const Domain& domain, Space space)
    : comm_(comm), domain_(domain), space_(space), mean_("mean", domain.roots()) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const Share share(domain, rank, ranks);
    displacements_.push_back(static_cast<int>(order_.size()));
    counts_.push_back(share.trees());
    for (const int segment : share.segments())
      for (int root = domain.begin(segment); root < domain.begin(segment + 1); ++root) order_.push_back(root);
  }
  gathered_.resize(order_.size());
}

void Stepper::exchange(const Mesh& mesh) {
  MPI_Allgatherv(mesh.levels[0].value.data(), mesh.trees(), MPI_DOUBLE, gathered_.data(), counts_.data(),
                 displacements_.data(), MPI_DOUBLE, comm_);  // gas comes first in the values
  for (std::size_t i = 0; i < order_.size(); ++i) mean_(order_[i]) = gathered_[i];
}

void Stepper::step(Mesh& mesh) {
  exchange(mesh);
  const Surroundings around = look_around(mesh, domain_, mean_, space_);
  for (int l = 0; l <= deepest; ++l)
    advance_leaves(mesh.levels[static_cast<std::size_t>(l)], l, mesh, around, space_);
  for (int l = deepest - 1; l >= 0; --l)
    restrict_to(mesh.levels[static_cast<std::size_t>(l)], l, mesh.levels[static_cast<std::size_t>(l) + 1],
                space_);
  adapt(mesh, space_);
  ++mesh.step;
}

}  // namespace amr
