// Getting memory that the ranks of each node share, or agreeing that there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "exchange/shared_memory.hpp"
#include "ranks/communicator.hpp"

namespace forebay {

/// Zeroed, page-aligned; of the heap where a node has one rank, or its ranks are threads.
struct NodeMemory {
  SharedMemory shared;
  std::shared_ptr<std::byte[]> heap;
  void* at = nullptr;
  Descriptor descriptor{};  ///< NodeMemoryWish::outlives
};

struct NodeMemoryWish {
  /// All of it is reserved by the node's first rank: for what is small.
  explicit NodeMemoryWish(std::size_t bytes_) : bytes(bytes_), reserved(bytes_) {}
  /// Each rank reserves its own ranges, all ranks together all of it: what a rank uses most lies in its NUMA
  /// domain, and the rest is dealt to all domains.
  NodeMemoryWish(std::size_t bytes_, std::vector<Extent> mine)
      : bytes(bytes_), reserved(0), shares(std::move(mine)) {}
  std::size_t bytes;
  std::size_t reserved;  ///< of shared memory, from its begin, by the first rank; what nobody reserves has to
                         ///< be populated first
  std::vector<Extent> shares{};
  bool outlives = false;  ///< another process is to have it, too: never of the heap, but where ranks are
                          ///< threads, and who made it has its descriptor
};

/// Collective over `all`, and over the ranks of each node: communicators that nobody else uses now. `mine` is
/// how this rank stands so far: refused anywhere is refused everywhere, with Code::no_shared_memory where a
/// node has none, and Code::peer on ranks that had theirs. Pages come at their first touch: a small file
/// touches few.
Status share_on_node(const Communicator& node, const Communicator& all, const NodeMemoryWish& wish,
                     Status mine, NodeMemory& out);

}  // namespace forebay
