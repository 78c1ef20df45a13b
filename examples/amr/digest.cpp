#include "digest.hpp"

#include "layout.hpp"

namespace amr {
namespace {

// One of the mixing steps of SplitMix64, so that each bit reaches all others.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31);
}

std::uint64_t of_array(std::uint64_t hash, const Array& array) {
  for (std::int64_t i = 0; i < array.length; ++i)
    hash = mixed(hash, array.real()
                           ? std::bit_cast<std::uint64_t>(static_cast<const double*>(array.data)[i])
                           : static_cast<std::uint32_t>(static_cast<const std::int32_t*>(array.data)[i]));
  return mixed(hash, static_cast<std::uint64_t>(array.length));
}

}  // namespace

std::uint64_t digest(MPI_Comm comm, const Mesh& mesh, Space space) {
  const Kokkos::View<std::uint64_t*, Kokkos::HostSpace> of_tree("digest",
                                                                static_cast<std::size_t>(mesh.trees()));
  const Mesh* trees = &mesh;
  for_each(
      space, "digest", mesh.trees(), KOKKOS_LAMBDA(int tree) {
        std::uint64_t hash = mixed(0x1d8af3c1U, static_cast<std::uint32_t>(trees->root(tree)));
        for_each_array(*trees, tree, [&hash](const Array& array) { hash = of_array(hash, array); });
        of_tree(tree) = hash;
      });
  std::uint64_t sum = 0;  // of whole numbers: in any order the same
  for (int tree = 0; tree < mesh.trees(); ++tree) sum += of_tree(tree);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  return mixed(sum, static_cast<std::uint64_t>(mesh.step));
}

}  // namespace amr
