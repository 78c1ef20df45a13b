// Getting memory that the ranks of each node share, or agreeing that there is none.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "base/status.hpp"
#include "exchange/shared_memory.hpp"
#include "topology/topology.hpp"

namespace forebay {

/// Zeroed, page-aligned; of its own where a node has one rank.
struct NodeMemory {
  SharedMemory shared;
  std::vector<std::byte> plain;
  void* at = nullptr;
};

/// Collective over `all`, whose topology it is. `mine` is how this rank stands so far: refused anywhere is
/// refused everywhere, with Code::no_shared_memory where a node has none, and Code::peer on ranks that had
/// theirs.
Status share_on_node(const Topology& topology, MPI_Comm all, std::size_t bytes, SharedMemory::Pages pages,
                     Status mine, NodeMemory& out);

struct PlaceOnNode {
  int local_ranks = 1;
  int local_rank = 0;
};
/// The same over communicators that nobody else uses now.
Status share_on_node(MPI_Comm node, PlaceOnNode place, MPI_Comm all, std::size_t bytes,
                     SharedMemory::Pages pages, Status mine, NodeMemory& out);

}  // namespace forebay
