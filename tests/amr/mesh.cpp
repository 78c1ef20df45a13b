// The mesh of the AMR example: its segments, its depth, what hangs together in it, and the same bits in every
// space.
#include <Kokkos_Core.hpp>
#include <cmath>
#include <set>

#include "check.hpp"
#include "digest.hpp"
#include "refine.hpp"

namespace amr_test {
namespace {

using namespace amr;

void segments() {
  const std::vector<std::int32_t> lengths = segment_lengths({});
  double sum = 0, squares = 0;
  for (const std::int32_t length : lengths) sum += length, squares += static_cast<double>(length) * length;
  const double mean = sum / 1024, deviation = std::sqrt(squares / 1024 - mean * mean);
  CHECK(lengths.size() == 1024);
  CHECK(std::abs(mean - 2048) < 12);  // 3 standard errors
  CHECK(std::abs(deviation - 128) < 9);
  CHECK(segment_lengths({.scale = 1e-9}) == std::vector<std::int32_t>(1024, 1));
}

void places() {
  const Domain domain = tiny_domain();
  std::set<Place> seen;
  for (int root = 0; root < domain.roots(); ++root) {
    const Place& place = domain.place(root);
    CHECK(seen.insert(place).second);
    CHECK(domain.root_at(place[0], place[1], place[2]) == root);
  }
  CHECK(domain.root_at(-1, 0, 0) == -1 && domain.root_at(0, domain.edge(), 0) == -1);
}

void full_tree() {
  int arrays = 0;
  for (int level = 0; level <= deepest; ++level) arrays += arrays_of(level);
  CHECK(arrays == 129);
  CHECK(arrays_of(0) == 3 && arrays_of(1) == 21);
}

// That parents and children fit, and refined cells hold the mean.
void hangs_together(const Mesh& mesh) {
  for (int l = 0; l < deepest; ++l) {
    const Level &above = mesh.levels[static_cast<std::size_t>(l)],
                &below = mesh.levels[static_cast<std::size_t>(l) + 1];
    int next = 0;
    for (int oct = 0; oct < above.octs(); ++oct)
      for (int child = 0; child < cells_of(l); ++child) {
        if (!(above.refined(oct) >> child & 1)) continue;
        CHECK(above.oct_below(oct, child) == next);
        CHECK(below.tree(next) == above.tree(oct));
        CHECK(below.parent(next) == (oct - above.first(above.tree(oct))) * cells_of(l) + child);
        for (std::size_t axis = 0; axis < 3; ++axis)
          CHECK(below.corner[axis](next) == above.corner[axis](oct) + (child >> axis & 1) * cell_edge(l));
        const auto value = [&](int k) { return below.value(gas, k, next); };
        CHECK(above.value(gas, child, oct) == (((value(0) + value(1)) + (value(2) + value(3))) +
                                               ((value(4) + value(5)) + (value(6) + value(7)))) /
                                                  8);
        ++next;
      }
    CHECK(next == below.octs());
  }
}

// Over all ranks: trees of all 129 arrays, and octs.
std::array<int, 2> full_trees(const Mesh& mesh) {
  std::array<int, 2> counts{0, static_cast<int>(mesh.octs())};
  for (int tree = 0; tree < mesh.trees(); ++tree) {
    int arrays = 0;
    for_each_array(mesh, tree, [&](const Array&) { ++arrays; });
    counts[0] += arrays == 129;
  }
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return counts;
}

// Steps in both spaces, side by side.
void computes() {
  const Domain domain = tiny_domain();
  Mesh serial = computed(MPI_COMM_WORLD, domain, 0), threaded = computed(MPI_COMM_WORLD, domain, 0);
  Stepper one(MPI_COMM_WORLD, domain, Space::serial), many(MPI_COMM_WORLD, domain, Space::host);
  int coarsened = 0;
  for (int step = 1; step <= 12; ++step) {
    const Counts before = counts_of(serial);
    one.step(serial);
    many.step(threaded);
    CHECK(same(serial, threaded));
    CHECK(digest(MPI_COMM_WORLD, serial, Space::serial) == digest(MPI_COMM_WORLD, threaded, Space::host));
    hangs_together(serial);
    const Counts after = counts_of(serial);
    for (std::size_t i = 0; i < after.size(); ++i) coarsened += after[i] < before[i];
  }
  const auto [full, octs] = full_trees(serial);
  MPI_Allreduce(MPI_IN_PLACE, &coarsened, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(full > 5);
  CHECK(coarsened > 100);
  CHECK(octs > 1000);
  const std::uint64_t whole = digest(MPI_COMM_WORLD, serial, Space::host);
  if (serial.trees() > 0) serial.levels[0].value(ash, 0, 0) += 1e-15;  // one bit or two, of one cell a rank
  CHECK(digest(MPI_COMM_WORLD, serial, Space::host) != whole);
  CHECK(!same(serial, threaded));
}

}  // namespace
}  // namespace amr_test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(
        Kokkos::InitializationSettings().set_num_threads(3).set_disable_warnings(true));
    amr_test::segments();
    amr_test::places();
    amr_test::full_tree();
    amr_test::computes();
  }
  MPI_Allreduce(MPI_IN_PLACE, &amr_test::failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return amr_test::failures == 0 ? 0 : 1;
}
