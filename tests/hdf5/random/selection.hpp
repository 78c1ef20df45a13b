// Random selections: what each rank takes of a dataset in one call, and where it has that in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "../../dice.hpp"
#include "../harness.hpp"
#include "model.hpp"

namespace test {

enum class Style {
  slabs,   ///< each rank a box in its own share of one dimension
  cyclic,  ///< each rank every ranks-th index of one dimension
  blocks,  ///< the same with blocks of indices
  points,  ///< each rank points in its own share, in no order
  unions,  ///< each rank two boxes in its own share, joined or one without the other
  same,    ///< all ranks the same box
  one,     ///< one rank all of it
};

/// What a call does with one dataset, the same on all ranks. Parts of ranks are disjoint but with
/// Style::same.
struct Plan {
  Style style = Style::slabs;
  std::size_t dim = 0;     ///< the dimension that is shared out
  hsize_t block = 1;       ///< of Style::blocks
  std::uint32_t idle = 0;  ///< ranks with nothing to do, a bit a rank
  int shift = 0;           ///< each rank takes the part of the rank so far away
  bool repeated = false;   ///< points may come twice: not for writes
  bool whole = false;      ///< every rank all of it
  std::uint64_t seed = 0;  ///< of what a rank chooses within its share
};

Plan draw_plan(Dice& all, const DatasetModel& set, int ranks, bool writing);
Id select(const Plan& plan, const DatasetModel& set, int rank, int ranks);

/// Memory for a transfer of `count` elements: a dataspace, and where each element of the transfer lies in it.
struct Memory {
  Id space;
  std::vector<std::size_t> places;  ///< in the order of the transfer, in elements
  std::vector<std::byte> bytes;     ///< filled with a pattern
};
Memory draw_memory(Dice& mine, const ElementType& type, std::size_t count);

}  // namespace test
