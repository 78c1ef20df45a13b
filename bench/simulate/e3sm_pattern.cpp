// E3SM's history files on a grid that grows with the machine: so many copies of the recorded one, side by
// side, as there are times as many ranks.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "cubed_sphere.hpp"
#include "decomposition.hpp"
#include "map_file.hpp"
#include "pattern.hpp"
#include "request/piece_cursor.hpp"
#include "request/piece_list.hpp"

namespace forebay::simulate {
namespace {

using bench::Decomposition;

constexpr int kRecorded = 16;            // processes
constexpr std::int64_t kHeader = 16384;  // before the first variable
constexpr int kAtmosphereLevels = 72, kOceanLevels = 100, kLandLevels = 15;

/// One recorded decomposition. The columns are its fastest dimension, or its slowest.
struct Grid {
  std::int64_t columns = 0;
  std::int64_t levels = 1;
  bool columns_are_fastest = true;
  std::vector<PieceListPtr> pieces;  // by process
};

/// Variables of one decomposition.
struct Group {
  Grid grid;
  int variables = 1;  // of the whole history file
};

PieceListPtr list_of(std::vector<bench::Piece> pieces) {
  PieceListBuilder builder;
  for (const bench::Piece& piece : bench::ascending(std::move(pieces)))
    builder.add(piece.offset, piece.length);
  return builder.finish();
}

/// Decomposition `k` of what `cut` gives a process.
template <class Cut>
Grid grid_of(const Cut& cut, std::size_t k, int processes, bool columns_are_fastest) {
  Grid grid;
  grid.columns_are_fastest = columns_are_fastest;
  for (int p = 0; p < processes; ++p) {
    const Decomposition mine = cut(p, processes).at(k);
    grid.columns = columns_are_fastest ? mine.shape.back() : mine.shape.front();
    grid.levels = bench::volume(mine.shape) / grid.columns;
    grid.pieces.push_back(list_of(mine.pieces));
  }
  return grid;
}

/// A decomposition in PIO's own form: by process the 1-based columns, 0 for none. Deals the processes out.
class PioMap {
 public:
  explicit PioMap(const std::string& path) {
    std::ifstream in(path);
    std::string word;
    int dimensions = 0;
    in >> word >> word >> word >> processes_ >> word >> dimensions;
    if (!in || dimensions != 1 || processes_ < 1 || !(in >> columns_))
      throw std::runtime_error(path + " is no decomposition of one dimension in PIO's form");
    for (int p = 0; p < processes_; ++p) {
      std::int64_t number = 0, count = 0;
      in >> number >> count;
      auto& mine = pieces_.emplace_back();
      for (std::int64_t i = 0, column = 0; i < count && in >> column; ++i) {
        if (column < 0 || column > columns_)
          throw std::runtime_error(path + " names a column that is not there");
        if (column > 0) mine.push_back({column - 1, 1});
      }
    }
    if (!in) throw std::runtime_error(path + " ends too early");
  }

  std::vector<Decomposition> operator()(int process, int processes) const {
    std::vector<bench::Piece> flat, deep;
    for (int p = process * processes_ / processes; p < (process + 1) * processes_ / processes; ++p) {
      for (const bench::Piece& piece : pieces_[static_cast<std::size_t>(p)]) {
        flat.push_back(piece);
        for (std::int64_t l = 0; l < kLandLevels; ++l)
          deep.push_back({piece.offset + l * columns_, piece.length});
      }
    }
    return {{"flat", {columns_}, flat}, {"deep", {kLandLevels, columns_}, deep}};
  }

 private:
  int processes_ = 0;
  std::int64_t columns_ = 0;
  std::vector<std::vector<bench::Piece>> pieces_;
};

/// Without a map: a cubed sphere of the recorded one's size.
std::vector<Decomposition> sphere(char which, int process, int processes) {
  static const bench::CubedSphere made(4, kAtmosphereLevels);
  std::vector<Decomposition> cut = made.cut(process, processes);
  if (which == 'f') return cut;
  std::vector<bench::Piece> deep;
  const std::int64_t columns = made.columns();
  if (which == 'g') {
    for (const bench::Piece& piece : cut[1].pieces)
      deep.push_back({piece.offset * kOceanLevels, piece.length * kOceanLevels});
    return {cut[1], {"deep", {columns, kOceanLevels}, deep}};
  }
  for (std::int64_t l = 0; l < kLandLevels; ++l) {
    for (const bench::Piece& piece : cut[0].pieces)
      deep.push_back({piece.offset + l * columns, piece.length});
  }
  return {cut[0], {"deep", {kLandLevels, columns}, deep}};
}

/// How many variables of each decomposition E3SM's history file has.
std::vector<Group> groups_of(char which, const std::string& maps, int processes) {
  std::vector<Group> groups;
  const auto add = [&](const auto& cut, std::initializer_list<int> variables, bool columns_are_fastest) {
    std::size_t k = 0;
    for (const int count : variables)
      groups.push_back({grid_of(cut, k++, processes, columns_are_fastest), count});
  };
  const auto generated = [&](int p, int of) { return sphere(which, p, of); };
  const auto recorded = [&](const char* name) { return maps.empty() ? std::string() : maps + "/" + name; };
  const auto there = [](const std::string& path) { return !path.empty() && std::ifstream(path).good(); };
  if (which == 'i') {
    const std::string path = recorded("piodecomp16tasks16io01dims_ioid_514.dat");
    there(path) ? add(PioMap(path), {465, 75}, true) : add(generated, {465, 75}, true);
    return groups;
  }
  const std::string path = recorded(which == 'f' ? "map_f_case_16p.nc" : "map_g_case_16p.nc");
  if (!there(path)) {
    which == 'f' ? add(generated, {1, 323, 63}, true) : add(generated, {8, 33}, false);
    return groups;
  }
  const bench::MapFile map(path);
  const auto cut = [&](int p, int of) { return map.cut(p, of); };
  which == 'f' ? add(cut, {1, 323, 63}, true) : add(cut, {6, 2, 25, 2, 2, 4}, false);
  return groups;
}

class E3sm final : public Pattern {
 public:
  E3sm(char which, const PatternWish& wish)
      : element_(which == 'g' ? 8 : 4),
        together_(wish.together),
        processes_(std::min(kRecorded, wish.ranks)) {
    copies_ = wish.ranks / processes_;
    std::vector<Group> groups = groups_of(which, wish.maps, processes_);
    double whole = 0;  // bytes a rank of the whole history file
    for (const Group& group : groups)
      whole += static_cast<double>(group.grid.columns * group.grid.levels * element_) * group.variables /
               processes_;
    const double part = std::min(1.0, static_cast<double>(wish.bytes_a_rank) / whole);
    const auto largest = std::max_element(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
      return a.grid.levels * a.variables < b.grid.levels * b.variables;
    });
    bytes_ = kHeader;
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      const auto some = static_cast<int>(std::lround(group->variables * part));
      grids_.push_back(group->grid);
      for (int v = 0; v < std::max(some, group == largest ? 1 : 0); ++v) {
        variables_.push_back({grids_.size() - 1, bytes_});
        bytes_ += group->grid.columns * group->grid.levels * copies_ * element_;
      }
    }
  }

  std::vector<std::unique_ptr<Cursor>> requests(int rank) const override {
    std::vector<std::unique_ptr<Cursor>> made;
    if (rank >= copies_ * processes_) return made;
    const int process = together_ ? rank % processes_ : rank / copies_;
    const int copy = together_ ? rank / processes_ : rank % copies_;
    for (const auto& [number, base] : variables_) {
      const Grid& grid = grids_[number];
      const PieceListPtr& mine = grid.pieces[static_cast<std::size_t>(process)];
      if (mine->elements() == 0) continue;
      PieceMapping mapping{base, element_, 0, 0};
      if (!grid.columns_are_fastest) {
        mapping.base += copy * grid.columns * grid.levels * element_;
      } else {
        mapping.base += copy * grid.columns * element_;
        if (grid.levels > 1) {
          mapping.record_elements = grid.columns;
          mapping.record_stride_bytes = grid.columns * copies_ * element_;
        }
      }
      made.push_back(std::make_unique<PieceListCursor>(mine, mapping));
    }
    return made;
  }
  std::int64_t file_bytes() const override { return bytes_; }

 private:
  struct Placed {
    std::size_t grid;
    std::int64_t base;
  };
  std::int64_t element_;
  bool together_;
  int processes_;
  int copies_ = 1;
  std::vector<Grid> grids_;
  std::vector<Placed> variables_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Pattern> make_e3sm(char which, const PatternWish& wish) {
  return std::make_unique<E3sm>(which, wish);
}

}  // namespace forebay::simulate
