// Who sits where: the nodes of a communicator, the aggregators of each node, and the rails that join them.
#pragma once

#include <memory>
#include <vector>

#include "base/node_choice.hpp"
#include "layout/file_domains.hpp"
#include "ranks/communicator.hpp"

namespace forebay {

/// First members of the groups when `ranks` ranks of a node are cut into `aggregators` groups as even as can
/// be, larger groups first: TAM's rule for local aggregators ("two-layer aggregation"), which spreads them
/// over the node's sockets.
std::vector<int> spread_out(int ranks, int aggregators);

/// Who writes for the aggregators of these groups while they exchange: the neighbour of each, or, in a group
/// of one, itself.
std::vector<int> writers_beside(int ranks, int aggregators);

/// How many of them each node has. `wanted` > 0 is the wish, bounded by the smallest node's `least_ranks`; 0:
/// as many as `owners`, those of all `nodes` that own together, asks for; 0 there, too, chooses.
int aggregators_of_node(int wanted, int owners, int nodes, int least_ranks);

/// The same on every rank where it says so. An aggregator is numbered by its rail: aggregator j of every node
/// sits on rail j, a communicator with one rank a node.
struct Topology {
  std::shared_ptr<const Communicator> node_comm;  ///< the ranks of this node
  std::unique_ptr<Communicator>
      rail_comm;              ///< on aggregators, when there are several nodes; rank in it = node
  int node = 0;               ///< this rank's node, 0 … nodes-1
  int nodes = 1;              ///< all ranks
  int local_rank = 0;         ///< in the node
  int local_ranks = 1;        ///< on this node
  int least_local_ranks = 1;  ///< all ranks: the smallest node
  int most_local_ranks = 1;   ///< all ranks: the largest node
  int aggregators = 1;        ///< a node; all ranks
  int rail = -1;              ///< -1: not an aggregator
  int writes_for = -1;        ///< the rail for which this rank writes beside its aggregator; -1: none
  std::vector<int> owning{};  ///< the nodes that may own parts of a file; empty: all; all ranks

  OwnerSet owners() const { return {nodes, aggregators, owning}; }
  /// Whether this rank's node is one of them.
  bool node_may_own() const;
};

/// Collective. `ranks_per_node` > 0 cuts nodes into groups of so many neighbours, each treated as a node (the
/// subgroup method, and several nodes on one for tests). `aggregators`, `owners`: as aggregators_of_node.
/// `one_node`: all ranks know that they are on one; then this takes no message. `choice`: of nodes that own;
/// where it means none of these, all do.
Topology make_topology(const std::shared_ptr<const Communicator>& ranks, int ranks_per_node, int aggregators,
                       int owners = 0, bool one_node = false, const NodeChoice& choice = {});

}  // namespace forebay
