// Splitting a communicator into nodes and rails.
#include "topology/topology.hpp"

#include <algorithm>
#include <array>

#include "layout/owner_nodes.hpp"

namespace forebay {
namespace {

// Measured on two cores over tmpfs and ext4: more writers than two a node share one file's lock and gain
// nothing, one leaves the disk idle while it merges marks.
constexpr int kDefaultAggregators = 2;

}  // namespace

bool Topology::node_may_own() const {
  return owning.empty() || std::ranges::binary_search(owning, node);
}

std::vector<int> spread_out(int ranks, int aggregators) {
  std::vector<int> first;
  const int large = ranks % aggregators;
  const int size = ranks / aggregators;
  int at = 0;
  for (int group = 0; group < aggregators; ++group) {
    first.push_back(at);
    at += size + (group < large ? 1 : 0);
  }
  return first;
}

std::vector<int> writers_beside(int ranks, int aggregators) {
  std::vector<int> writers = spread_out(ranks, aggregators);
  for (std::size_t a = 0; a < writers.size(); ++a) {
    const int end = a + 1 < writers.size() ? writers[a + 1] : ranks;
    if (writers[a] + 1 < end) ++writers[a];
  }
  return writers;
}

int aggregators_of_node(int wanted, int owners, int nodes, int least_ranks) {
  if (wanted == 0 && owners > 0) wanted = (owners + nodes - 1) / nodes;
  return std::clamp(wanted > 0 ? wanted : kDefaultAggregators, 1, least_ranks);
}

Topology make_topology(const std::shared_ptr<const Communicator>& ranks, int ranks_per_node, int aggregators,
                       int owners, bool one_node, const NodeChoice& choice) {
  Topology t;
  const int rank = ranks->rank();
  t.node_comm = one_node ? ranks : ranks->split_by_node();
  if (ranks_per_node > 0) t.node_comm = t.node_comm->split(t.node_comm->rank() / ranks_per_node, rank);
  t.local_rank = t.node_comm->rank();
  t.local_ranks = t.node_comm->size();

  if (t.node_comm != ranks) {
    const auto leaders = ranks->split(t.local_rank == 0 ? 0 : -1, rank);
    std::array<int, 4> facts{};
    if (t.local_rank == 0) {
      std::array<std::int64_t, 2> extremes{-t.local_ranks, t.local_ranks};
      leaders->reduce(extremes, Communicator::Op::maximum);
      facts = {leaders->rank(), leaders->size(), static_cast<int>(-extremes[0]),
               static_cast<int>(extremes[1])};
    }
    t.node_comm->broadcast(facts.data(), sizeof facts, 0);
    t.node = facts[0];
    t.nodes = facts[1];
    t.least_local_ranks = facts[2];
    t.most_local_ranks = facts[3];
  } else {
    t.least_local_ranks = t.most_local_ranks = t.local_ranks;
  }

  t.owning = owner_nodes(choice, t.nodes).value_or(std::vector<int>());
  const int own = t.owning.empty() ? t.nodes : static_cast<int>(t.owning.size());
  t.aggregators = aggregators_of_node(aggregators, owners, own, t.least_local_ranks);
  const auto place_among = [&](const std::vector<int>& chosen) {
    const auto at = std::find(chosen.begin(), chosen.end(), t.local_rank);
    return at != chosen.end() ? static_cast<int>(at - chosen.begin()) : -1;
  };
  t.rail = place_among(spread_out(t.local_ranks, t.aggregators));
  t.writes_for = place_among(writers_beside(t.local_ranks, t.aggregators));
  if (t.nodes > 1) t.rail_comm = ranks->split(t.rail, t.node);
  return t;
}

}  // namespace forebay
