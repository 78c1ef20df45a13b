// Opens a decomposition's source once and hands it out as a function.
#include "cases.hpp"

#include <memory>

#include "cubed_sphere.hpp"
#include "map_file.hpp"

namespace forebay::bench {

Cutter open_case(const Case& of) {
  if (of.map == "generated") {
    const auto sphere = std::make_shared<const CubedSphere>(of.ne, of.levels);
    return [sphere](int rank, int ranks) { return sphere->cut(rank, ranks); };
  }
  const auto map = std::make_shared<const MapFile>(of.map);
  return [map](int rank, int ranks) { return map->cut(rank, ranks); };
}

std::vector<Coverage> cover(const Cutter& cut, int ranks) {
  std::vector<Coverage> coverage;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<Decomposition> cuts = cut(rank, ranks);
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      if (rank == 0) coverage.emplace_back(volume(cuts[k].shape));
      coverage[k].add(cuts[k].pieces);
    }
  }
  return coverage;
}

}  // namespace forebay::bench
