// Who sits where: the nodes of a communicator, the aggregators of each node, and the rails that join them.
#pragma once

#include <memory>

#include "base/node_choice.hpp"
#include "layout/file_domains.hpp"
#include "ranks/communicator.hpp"
#include "topology/aggregators.hpp"

namespace forebay {

/// The same on every rank where it says so. An aggregator is numbered by its rail: aggregator j of every node
/// sits on rail j, a communicator with one rank a node.
struct Topology {
  std::shared_ptr<const Communicator> node_comm;  ///< the ranks of this node
  std::unique_ptr<Communicator>
      rail_comm;  ///< on aggregators, when there are several nodes; rank in it = node
  std::unique_ptr<Communicator> aggregator_comm;  ///< on aggregators, where rail_comm is: those of all rails
  int node = 0;                                   ///< this rank's node, 0 … nodes-1
  int nodes = 1;                                  ///< all ranks
  int local_rank = 0;                             ///< in the node
  int local_ranks = 1;                            ///< on this node
  int least_local_ranks = 1;                      ///< all ranks: the smallest node
  int most_local_ranks = 1;                       ///< all ranks: the largest node
  int aggregators = 1;                            ///< a node; all ranks
  CountedBy counted_by = CountedBy::usual;        ///< why so many; all ranks
  NodeParts parts;  ///< of this node, or of its group's share; what nobody asked for is as for nothing known
  int rail = -1;    ///< -1: not an aggregator
  int writes_for = -1;        ///< the rail for which this rank writes beside its aggregator; -1: none
  std::vector<int> owning{};  ///< the nodes that may own parts of a file; empty: all; all ranks

  OwnerSet owners() const { return {nodes, aggregators, owning}; }
  int nodes_that_own() const { return owning.empty() ? nodes : static_cast<int>(owning.size()); }
  /// Whether this rank's node is one of them.
  bool node_may_own() const;
};

/// Collective. `ranks_per_node` > 0 cuts nodes into groups of so many neighbours, each treated as a node (the
/// subgroup method, and several nodes on one for tests). `aggregators`, `owners`: as count_aggregators.
/// `one_node`: all ranks know that they are on one; then this takes no message. Where there are several nodes
/// with several ranks, one rank of each asks what the node has. `choice`: of nodes that own; where it means
/// none of these, all do.
Topology make_topology(const std::shared_ptr<const Communicator>& ranks, int ranks_per_node, int aggregators,
                       int owners = 0, bool one_node = false, const NodeChoice& choice = {});

}  // namespace forebay
