// What all files of one communicator share: its topology, windows and rails, made once and kept.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "engine/flush.hpp"
#include "engine/node_memory.hpp"
#include "engine/node_segments.hpp"
#include "exchange/mpi_link.hpp"
#include "exchange/node_window.hpp"
#include "topology/topology.hpp"

namespace forebay {

/// A window of one size, and this rank's working memory for it. Leased to one flush at a time: flushes are
/// collective.
struct Window {
  NodeMemory memory;
  std::unique_ptr<NodeWindow> view;
  FlushScratch scratch;
  std::uint64_t sequence = 0;
  std::int64_t bytes = 0;
};

/// Memory for the segments of one file at a time.
struct SegmentMemory {
  NodeMemory memory;
  std::size_t bytes = 0;
  std::int64_t segment_bytes = 0;
  bool leased = false;
};

class NodeSet {
 public:
  /// Collective. The set for `comm`'s group with these wishes; an existing one where ranks and order are the
  /// same.
  static std::shared_ptr<NodeSet> get(MPI_Comm comm, int ranks_per_node, int aggregators);

  NodeSet(MPI_Comm comm, int ranks_per_node, int aggregators);
  NodeSet(const NodeSet&) = delete;
  NodeSet& operator=(const NodeSet&) = delete;

  MPI_Comm comm() const { return comm_.get(); }
  const Topology& topology() const { return topology_; }

  /// Collective: the window for rounds of that size; made on first use. Code::no_shared_memory on every rank
  /// if any node has none.
  Status window(std::int64_t round_bytes, Window*& out);

  /// Collective: memory for so many segments of NodeSegments, until somebody says that it is not leased any
  /// more.
  Status lease_segments(std::int64_t segment_bytes, int count, SegmentMemory*& out);

  /// Collective over aggregators: this rank's rail, made (and measured) on first use; null on others and on
  /// one node.
  Rail* rail(forebay::Link wanted);
  forebay::Link link_used() const { return link_used_; }

 private:
  friend struct NodeSetRegistry;

  mpi::Comm comm_;
  Topology topology_;
  std::map<std::int64_t, std::unique_ptr<Window>> windows_;
  std::vector<std::unique_ptr<SegmentMemory>> segments_;
  std::map<forebay::Link, std::unique_ptr<Rail>> rails_;
  forebay::Link link_used_ = forebay::Link::message;
  int ranks_per_node_;
  int aggregators_;
};

}  // namespace forebay
