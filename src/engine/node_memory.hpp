// Getting memory that the ranks of each node share, or agreeing that there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/status.hpp"
#include "exchange/shared_memory.hpp"
#include "ranks/communicator.hpp"

namespace forebay {

/// Zeroed, page-aligned; of the heap where a node has one rank, or its ranks are threads.
struct NodeMemory {
  SharedMemory shared;
  std::shared_ptr<std::byte[]> heap;
  void* at = nullptr;
};

/// Collective over `all`, and over the ranks of each node: communicators that nobody else uses now. `mine` is
/// how this rank stands so far: refused anywhere is refused everywhere, with Code::no_shared_memory where a
/// node has none, and Code::peer on ranks that had theirs. Pages come at their first touch: a small file
/// touches few.
/// Of shared memory only the first `reserved` bytes are certain: the others have to be populated first.
Status share_on_node(const Communicator& node, const Communicator& all, std::size_t bytes,
                     std::size_t reserved, Status mine, NodeMemory& out);
inline Status share_on_node(const Communicator& node, const Communicator& all, std::size_t bytes, Status mine,
                            NodeMemory& out) {
  return share_on_node(node, all, bytes, bytes, std::move(mine), out);
}

}  // namespace forebay
