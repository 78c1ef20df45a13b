// The two ways in which PIO moves a decomposed array from the compute ranks to a few I/O tasks before it
// writes.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

namespace forebay::test {

/// Part of an array [levels][columns].
struct Region {
  std::array<MPI_Offset, 2> start{};
  std::array<MPI_Offset, 2> count{};
};

/// The elements of an array [levels][columns] that a rank computes, as offsets in its own order: short runs
/// of columns dealt out irregularly, all levels of each. Every element is some rank's, and of more than two
/// ranks the last has none.
std::vector<MPI_Offset> irregular_map(int rank, int ranks, MPI_Offset levels, MPI_Offset columns);

class Rearranger {
 public:
  /// box: an I/O task gets a block of columns from everybody. subset: it gets all that a group of ranks has,
  /// in the array's order, and writes it as many regions.
  enum class Kind { box, subset };

  /// Collective over `comm`, which is kept; `io_tasks` are ranks in it.
  Rearranger(MPI_Comm comm, const std::vector<int>& io_tasks, Kind kind, MPI_Offset levels,
             MPI_Offset columns, const std::vector<MPI_Offset>& map);

  /// Collective: a compute rank's elements go in; an I/O task gets those of its regions, one after the other,
  /// the others nothing.
  std::vector<double> to_io_tasks(const std::vector<double>& mine) const;
  /// What this rank writes, ascending; nothing where it is no I/O task.
  const std::vector<Region>& regions() const { return regions_; }

 private:
  MPI_Comm comm_;
  std::vector<int> send_counts_, send_places_, receive_counts_, receive_places_;
  std::vector<std::size_t> send_order_;     // elements by receiver
  std::vector<std::size_t> receive_order_;  // received elements by offset
  std::vector<Region> regions_;
};

}  // namespace forebay::test
