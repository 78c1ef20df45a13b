// Getting memory that the ranks of each node share, or agreeing that there is none.
#pragma once

#include <cstddef>
#include <memory>

#include "base/status.hpp"
#include "exchange/shared_memory.hpp"
#include "topology/topology.hpp"

namespace forebay {

/// Zeroed, page-aligned; of the heap where a node has one rank, or its ranks are threads.
struct NodeMemory {
  SharedMemory shared;
  std::shared_ptr<std::byte[]> heap;
  void* at = nullptr;
};

/// Collective over `all`, whose topology it is. `mine` is how this rank stands so far: refused anywhere is
/// refused everywhere, with Code::no_shared_memory where a node has none, and Code::peer on ranks that had
/// theirs.
Status share_on_node(const Topology& topology, const Communicator& all, std::size_t bytes,
                     SharedMemory::Pages pages, Status mine, NodeMemory& out);

/// The same over communicators that nobody else uses now.
Status share_on_node(const Communicator& node, const Communicator& all, std::size_t bytes,
                     SharedMemory::Pages pages, Status mine, NodeMemory& out);

}  // namespace forebay
