// Splitting a communicator into nodes and rails.
#include "topology/topology.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "layout/owner_nodes.hpp"

namespace forebay {
namespace {

constexpr std::size_t kProcessorWords = 64;  // of each rank; who has more processors is bound to nothing

/// What a rank learns from the first of its node.
struct Chosen {
  int count, by, domains, cards;
};
struct Role {
  int rail = -1;
  int writes_for = -1;
};

/// On the first rank of each node, which alone asks what the node has, and tells the others their roles.
class Chooser {
 public:
  Chooser(const Communicator& ranks, Topology& topology, int groups)
      : ranks_(ranks), t_(topology), groups_(groups) {}

  /// Collective.
  void choose(const Communicator* leaders, int wanted, int owners) {
    gather_domains();
    std::vector<Role> roles(static_cast<std::size_t>(t_.local_ranks));
    Chosen chosen{};
    if (leaders != nullptr) {
      chosen = agree(*leaders, wanted, owners);
      const Seats seats = seat_aggregators(chosen.count, domain_of_, cards_);
      for (int rail = 0; rail < chosen.count; ++rail) {
        const auto at = static_cast<std::size_t>(rail);
        roles[static_cast<std::size_t>(seats.aggregators[at])].rail = rail;
        roles[static_cast<std::size_t>(seats.writers[at])].writes_for = rail;
      }
    }
    t_.node_comm->broadcast(&chosen, sizeof chosen, 0);
    t_.node_comm->broadcast(roles.data(), roles.size() * sizeof(Role), 0);
    t_.aggregators = chosen.count;
    t_.counted_by = static_cast<CountedBy>(chosen.by);
    t_.parts = {t_.local_ranks, chosen.domains, chosen.cards};
    const Role& mine = roles[static_cast<std::size_t>(t_.local_rank)];
    t_.rail = mine.rail;
    t_.writes_for = mine.writes_for;
  }

 private:
  void gather_domains() {
    Processors mine = ranks_.processors();
    if (mine.size() > kProcessorWords) mine.clear();
    mine.resize(kProcessorWords);
    const bool first = t_.local_rank == 0;
    std::vector<std::uint64_t> all(first ? kProcessorWords * static_cast<std::size_t>(t_.local_ranks) : 0);
    t_.node_comm->gather(mine.data(), kProcessorWords * sizeof(std::uint64_t), all.data(), 0);
    if (!first) return;
    const Machine& machine = ranks_.machine();
    for (std::size_t at = 0; at < all.size(); at += kProcessorWords)
      domain_of_.push_back(machine.domain_of({all.data() + at, all.data() + at + kProcessorWords}));
    for (const NetworkCard& card : machine.cards) cards_.push_back(card.domain);
  }

  Chosen agree(const Communicator& leaders, int wanted, int owners) const {
    const std::set<int> domains(domain_of_.begin(), domain_of_.end());
    NodeParts parts{t_.local_ranks, std::max(1, static_cast<int>(domains.size() - domains.count(-1))), 0};
    // Groups of one node have them together.
    if (!cards_.empty()) parts.cards = std::max(1, static_cast<int>(cards_.size()) / groups_);
    const AggregatorCount liked = aggregators_for(parts);
    std::array<std::int64_t, 2> most{liked.count, static_cast<int>(liked.by)};
    most[1] += most[0] << 8;
    leaders.reduce(most, Communicator::Op::maximum);
    const AggregatorCount count =
        count_aggregators(wanted, owners, t_.nodes_that_own(), t_.least_local_ranks,
                          {static_cast<int>(most[0]), static_cast<CountedBy>(most[1] & 0xff)});
    return {count.count, static_cast<int>(count.by), parts.domains, parts.cards};
  }

  const Communicator& ranks_;
  Topology& t_;
  int groups_;  // of this rank's machine
  // On the first rank of a node:
  std::vector<int> domain_of_;  // each rank
  std::vector<int> cards_;      // the domain of each
};

}  // namespace

bool Topology::node_may_own() const {
  return owning.empty() || std::ranges::binary_search(owning, node);
}

Topology make_topology(const std::shared_ptr<const Communicator>& ranks, int ranks_per_node, int aggregators,
                       int owners, bool one_node, const NodeChoice& choice) {
  Topology t;
  const int rank = ranks->rank();
  t.node_comm = one_node ? ranks : ranks->split_by_node();
  int groups = 1;
  if (ranks_per_node > 0) {
    groups = (t.node_comm->size() + ranks_per_node - 1) / ranks_per_node;
    t.node_comm = t.node_comm->split(t.node_comm->rank() / ranks_per_node, rank);
  }
  t.local_rank = t.node_comm->rank();
  t.local_ranks = t.node_comm->size();

  std::unique_ptr<Communicator> leaders;
  if (t.node_comm != ranks) {
    leaders = ranks->split(t.local_rank == 0 ? 0 : -1, rank);
    std::array<int, 4> facts{};
    if (leaders != nullptr) {
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
  if (t.nodes > 1 && t.most_local_ranks > 1) {
    Chooser(*ranks, t, groups).choose(leaders.get(), aggregators, owners);
  } else {
    t.parts.ranks = t.local_ranks;
    const AggregatorCount count = count_aggregators(aggregators, owners, t.nodes_that_own(),
                                                    t.least_local_ranks, aggregators_for(t.parts));
    t.aggregators = count.count;
    t.counted_by = count.by;
    const auto place_among = [&](const std::vector<int>& chosen) {
      const auto at = std::find(chosen.begin(), chosen.end(), t.local_rank);
      return at != chosen.end() ? static_cast<int>(at - chosen.begin()) : -1;
    };
    t.rail = place_among(spread_out(t.local_ranks, t.aggregators));
    t.writes_for = place_among(writers_beside(t.local_ranks, t.aggregators));
  }
  if (t.nodes > 1) {
    t.rail_comm = ranks->split(t.rail, t.node);
    t.aggregator_comm = ranks->split(t.rail < 0 ? -1 : 0, rank);
  }
  return t;
}

}  // namespace forebay
