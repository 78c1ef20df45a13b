// How many aggregators a node has by default, and which of its ranks they are.
#pragma once

#include <span>
#include <vector>

namespace forebay {

/// First members of the groups when `ranks` ranks of a node are cut into `aggregators` groups as even as can
/// be, larger groups first: TAM's rule for local aggregators ("two-layer aggregation"), which spreads them
/// over the node's sockets where nobody knows these.
std::vector<int> spread_out(int ranks, int aggregators);

/// Who writes for the aggregators of these groups while they exchange: the neighbour of each, or, in a group
/// of one, itself.
std::vector<int> writers_beside(int ranks, int aggregators);

/// What decides the number.
enum class CountedBy { usual, cards, domains, ranks, whole_file, hint };

/// As the report says it: "usual", "network cards", "NUMA domains", "ranks", "cb_nodes", "hint".
const char* word_of(CountedBy by);

/// What a node has.
struct NodeParts {
  int ranks = 1;
  int domains = 1;  ///< NUMA domains that have ranks of their own
  int cards = 0;    ///< network cards; 0: not known
};

struct AggregatorCount {
  int count = 1;
  CountedBy by = CountedBy::usual;
  bool operator==(const AggregatorCount&) const = default;
};

/// What a node of several nodes would like: one aggregator for so many ranks, at least one for each card, so
/// that all send at once, and one for each domain with ranks; but each with another rank to write for it.
AggregatorCount aggregators_for(const NodeParts& parts);

/// How many each node has. `wanted` > 0 is the hint; 0: as many as `owners`, those of all nodes together,
/// asks for; 0 there, too: of several nodes the most that one of them likes (`liked`), on one node the usual
/// number. At most `least_ranks`, those of the smallest node.
AggregatorCount count_aggregators(int wanted, int owners, int nodes, int least_ranks, AggregatorCount liked);

/// Ranks of a node.
struct Seats {
  std::vector<int> aggregators;  ///< by rail
  std::vector<int> writers;      ///< by rail: who writes while the aggregator exchanges; it may be itself
};

/// Seats for so many aggregators, at most the ranks. `domain_of`: each rank's, -1: it is bound to none;
/// `cards`: the domain of each card, -1: none. Domains with cards come first, one seat a card; then domains
/// by turns. Within a domain, and where all ranks are in one, as spread_out and writers_beside. Rails ascend
/// with domains, so that nodes that are alike have the two ends of a rail at the same place.
Seats seat_aggregators(int aggregators, std::span<const int> domain_of, std::span<const int> cards);

}  // namespace forebay
