// Two fields on every cell of a box, advanced by Kokkos, with a checkpoint half-way. The fields have a layer
// of ghost cells around them, which the file has not, and the file is the same on any number of ranks. Usage:
// kokkos_checkpoint FILE STEPS [restart]
#include <forebay/kokkos.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using Field = Kokkos::View<double***>;
constexpr std::int64_t kNz = 30, kNy = 40, kNx = 50;

/// What this rank has of the box: a slab of z, and a layer of ghosts around it.
struct Slab {
  int rank = 0, ranks = 1;
  std::int64_t begin = 0, end = 0;
  Slab() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    begin = kNz * rank / ranks, end = kNz * (rank + 1) / ranks;
  }
  Field field(const std::string& name) const {
    return Field(name, static_cast<std::size_t>(end - begin + 2), kNy + 2, kNx + 2);
  }
  auto inner(const Field& field) const {
    return Kokkos::subview(field, std::make_pair(std::int64_t{1}, end - begin + 1),
                           std::make_pair(std::int64_t{1}, kNy + 1),
                           std::make_pair(std::int64_t{1}, kNx + 1));
  }
  auto cells() const { return Kokkos::MDRangePolicy<Kokkos::Rank<3>>({0, 0, 0}, {end - begin, kNy, kNx}); }
};

void begin(const Slab& slab, const Field& u, const Field& v) {
  const auto first = slab.begin;
  Kokkos::parallel_for(
      "begin", slab.cells(), KOKKOS_LAMBDA(const int z, const int y, const int x) {
        u(z + 1, y + 1, x + 1) = 0.001 * static_cast<double>(((first + z) * kNy + y) * kNx + x) / kNz - 1.0;
        v(z + 1, y + 1, x + 1) = 0.01 * (y - x);
      });
}

/// FitzHugh and Nagumo's cells, each for itself.
void step(const Slab& slab, const Field& u, const Field& v) {
  Kokkos::parallel_for(
      "step", slab.cells(), KOKKOS_LAMBDA(const int z, const int y, const int x) {
        double& a = u(z + 1, y + 1, x + 1);
        double& b = v(z + 1, y + 1, x + 1);
        const double next = a + 0.1 * (a - a * a * a / 3 - b + 0.5);
        b += 0.1 * 0.08 * (a + 0.7 - 0.8 * b);
        a = next;
      });
}

/// u and, behind it, v: arrays of kNz × kNy × kNx.
forebay::Box place(const Slab& slab, int field) {
  return {field * kNz * kNy * kNx * 8, {kNz, kNy, kNx}, {slab.begin, 0, 0}};
}

void checkpoint(const Slab& slab, const std::string& path, const Field& u, const Field& v) {
  forebay::File file(MPI_COMM_WORLD, path, forebay::Mode::write | forebay::Mode::create);
  forebay::Puts puts;
  puts.add(place(slab, 0), slab.inner(u));
  puts.add(place(slab, 1), slab.inner(v));
  file.put_all(puts);
  file.close();
}

void restart(const Slab& slab, const std::string& path, const Field& u, const Field& v) {
  forebay::File file(MPI_COMM_WORLD, path, forebay::Mode::read);
  forebay::Gets gets;
  gets.add(place(slab, 0), slab.inner(u));
  gets.add(place(slab, 1), slab.inner(v));
  file.get_all(gets);
  file.close();
}

/// The same on any number of ranks, and different where a bit is.
std::uint64_t digest(const Slab& slab, const Field& field) {
  const auto first = slab.begin;
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(
      "digest", slab.cells(),
      KOKKOS_LAMBDA(const int z, const int y, const int x, std::uint64_t& to) {
        const double& value = field(z + 1, y + 1, x + 1);
        std::uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        to += (bits ^ (bits >> 29)) * static_cast<std::uint64_t>(2 * (((first + z) * kNy + y) * kNx + x) + 1);
      },
      sum);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

void run(const std::string& path, int steps, bool again) {
  const Slab slab;
  const Field u = slab.field("u"), v = slab.field("v");
  if (again) {
    restart(slab, path, u, v);
  } else {
    begin(slab, u, v);
    for (int i = 0; i < steps / 2; ++i) step(slab, u, v);
    checkpoint(slab, path, u, v);
  }
  for (int i = steps / 2; i < steps; ++i) step(slab, u, v);
  const std::uint64_t sums[] = {digest(slab, u), digest(slab, v)};
  if (slab.rank == 0)
    std::printf("after %d steps: %016llx %016llx\n", steps, static_cast<unsigned long long>(sums[0]),
                static_cast<unsigned long long>(sums[1]));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int result = argc < 3 ? 2 : 0;
  if (result != 0) std::fprintf(stderr, "usage: %s FILE STEPS [restart]\n", argv[0]);
  if (result == 0) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    try {
      run(argv[1], std::atoi(argv[2]), argc > 3);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return result;
}
