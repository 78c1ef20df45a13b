// The maps, or a cubed sphere of about their size.
#include "e3sm_case.hpp"

#include <stdexcept>
#include <utility>

#include "cubed_sphere.hpp"
#include "map_file.hpp"

namespace forebay::bench {
namespace {

// An ocean's six decompositions on the columns of the sphere: the levels of a cell lie together.
std::vector<Decomposition> sphere_as_ocean(const std::vector<Decomposition>& sphere) {
  const auto deep = [&](const char* name, std::int64_t levels) {
    Decomposition made{name, {sphere[1].shape[0], levels}, sphere[1].pieces};
    for (Piece& piece : made.pieces) piece = {piece.offset * levels, piece.length * levels};
    return made;
  };
  return {sphere[0], sphere[1], deep("D3", 100), deep("D4", 100), deep("D5", 100), deep("D6", 101)};
}

}  // namespace

std::vector<Decomposition> cut_e3sm(const Setting& setting, const std::string& map, bool ocean) {
  std::vector<Decomposition> mine;
  if (!map.empty()) {
    mine = MapFile(map).cut(setting.rank, setting.ranks);
    if (mine.size() != (ocean ? 6u : 3u))
      throw std::runtime_error(map + " is not the map of the " + (ocean ? "G" : "F") + " case");
  } else {
    const CubedSphere sphere(by_size(setting.size, 1, 4, 4, 4), by_size(setting.size, 4, 72, 72, 72));
    mine = sphere.cut(setting.rank, setting.ranks);
    if (ocean) mine = sphere_as_ocean(mine);
  }
  for (Decomposition& one : mine) one.pieces = ascending(std::move(one.pieces));
  return mine;
}

void thin_out(History& history, int step) {
  int seen = 0;
  std::erase_if(history.variables, [&](const Variable& variable) {
    return variable.decomposition >= 0 && variable.record && seen++ % step != 0;
  });
}

}  // namespace forebay::bench
