// What a checkpoint consists of: the arrays of the trees, and where each belongs among those of all trees.
// Knows no I/O library.
//
// A tree is 3 arrays of its root cell (flags, and the variables) and 21 of each of its levels: parent, flags,
// position x, y, z, and one of each child's value of each variable; with six levels 129. Trees follow each
// other in the order of root cells.
#pragma once

#include <mpi.h>

#include <bit>
#include <string>

#include "mesh.hpp"

namespace amr {

constexpr int integer_arrays(int level) {
  return level == 0 ? 1 : 5;
}
constexpr int arrays_of(int level) {
  return integer_arrays(level) + variables * cells_of(level);
}

// A part of an array: that of one tree, or of all trees of a rank.
struct Array {
  int level, index;     // index: which of the level's arrays
  void* data;           // std::int32_t or double
  std::int64_t length;  // elements

  bool real() const { return index >= integer_arrays(level); }
  std::int64_t bytes() const { return length * (real() ? 8 : 4); }
};

// "parent", "flags", "x", "gas_0", …
std::string array_name(int level, int index);

// The octs `first` … of a level's array.
inline Array array_of(const Mesh& mesh, int level, int index, int first, int octs) {
  const Level& cells = mesh.levels[static_cast<std::size_t>(level)];
  Array array{level, index, nullptr, octs};
  if (array.real()) {
    const int value = index - integer_arrays(level), variable = value / cells_of(level);
    array.data = octs == 0 ? nullptr : &cells.value(variable, value % cells_of(level), first);
  } else if (octs > 0) {
    const Integers* integers = index == 0   ? &cells.parent
                               : index == 1 ? &cells.refined
                                            : &cells.corner[static_cast<std::size_t>(index) - 2];
    array.data = &(level == 0 ? cells.refined : *integers)(first);
  }
  return array;
}

// Calls `body` with each array of a tree that is not empty, in the order of the file.
template <class Body>
void for_each_array(const Mesh& mesh, int tree, const Body& body) {
  for (int level = 0; level <= deepest; ++level) {
    const Level& cells = mesh.levels[static_cast<std::size_t>(level)];
    const int first = cells.first(tree), octs = cells.first(tree + 1) - first;
    for (int index = 0; octs > 0 && index < arrays_of(level); ++index)
      body(array_of(mesh, level, index, first, octs));
  }
}

// Where the trees of each segment begin, counted in octs of each level.
class Layout {
 public:
  // Collective: `counts` are those of the share's trees. Throws Failure on all ranks for a negative one.
  Layout(MPI_Comm comm, const Domain& domain, const Share& share, const Counts& counts);

  // Octs of a level in all segments before this one; for the number of segments, in all.
  std::int64_t before(int level, int segment) const {
    return before_[static_cast<std::size_t>(segment)][static_cast<std::size_t>(level)];
  }
  std::int64_t octs(int level) const { return before_.back()[static_cast<std::size_t>(level)]; }

  // Bytes of all trees of the segments before this one, array behind array.
  std::int64_t bytes_before(int segment) const;
  std::int64_t bytes() const { return bytes_before(static_cast<int>(before_.size()) - 1); }

 private:
  std::vector<std::array<std::int64_t, deepest + 1>> before_;  // [segments + 1]
};

}  // namespace amr
