// Numbers from simulation (docs/scaling.md), places from domains.
#include "topology/aggregators.hpp"

#include <algorithm>
#include <cstddef>

namespace forebay {
namespace {

// Measured on two cores over tmpfs and ext4: more writers than two a node share one file's lock and gain
// nothing, one leaves the disk idle while it merges marks.
constexpr int kUsualOnOneNode = 2;
// Simulated: with less, rounds are smaller and more, with more, messages are; with few ranks for each, nobody
// is left to fill the next round.
constexpr int kMostUsual = 4;
constexpr int kRanksOfUsual = 4;
// So that each aggregator has a neighbour, which writes.
constexpr int kRanksOfEach = 2;

/// The ranks of one domain, and how many seats it has.
struct Place {
  int domain;
  std::vector<int> ranks;
  int cards = 0;
  int seats = 0;
  bool has_room() const { return seats < static_cast<int>(ranks.size()); }
};

std::vector<Place> places_of(std::span<const int> domain_of, std::span<const int> cards) {
  std::vector<Place> places;
  for (std::size_t r = 0; r < domain_of.size(); ++r) {
    auto at = std::ranges::find(places, domain_of[r], &Place::domain);
    if (at == places.end()) at = places.insert(places.end(), {domain_of[r], {}});
    at->ranks.push_back(static_cast<int>(r));
  }
  // Ranks that are bound to none come last.
  std::ranges::sort(places, {}, [](const Place& p) { return static_cast<unsigned>(p.domain); });
  for (Place& place : places)
    place.cards = place.domain < 0 ? 0 : static_cast<int>(std::ranges::count(cards, place.domain));
  return places;
}

/// Gives seats, each to the place that has the fewest of those that `may` have one more.
template <class May>
void deal(std::vector<Place>& places, int& left, May&& may) {
  for (; left > 0; --left) {
    Place* best = nullptr;
    for (Place& place : places) {
      if (place.has_room() && may(place) && (best == nullptr || place.seats < best->seats)) best = &place;
    }
    if (best == nullptr) return;
    ++best->seats;
  }
}

}  // namespace

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

const char* word_of(CountedBy by) {
  switch (by) {
    case CountedBy::cards:
      return "network cards";
    case CountedBy::domains:
      return "NUMA domains";
    case CountedBy::ranks:
      return "ranks";
    case CountedBy::whole_file:
      return "cb_nodes";
    case CountedBy::hint:
      return "hint";
    default:
      return "usual";
  }
}

AggregatorCount aggregators_for(const NodeParts& parts) {
  AggregatorCount liked{std::clamp(parts.ranks / kRanksOfUsual, kUsualOnOneNode, kMostUsual),
                        CountedBy::usual};
  const int most = parts.ranks / kRanksOfEach;
  if (std::min(parts.domains, most) > liked.count)
    liked = {std::min(parts.domains, most), CountedBy::domains};
  if (std::min(parts.cards, most) > liked.count) liked = {std::min(parts.cards, most), CountedBy::cards};
  if (parts.ranks < liked.count) liked = {parts.ranks, CountedBy::ranks};
  return liked;
}

AggregatorCount count_aggregators(int wanted, int owners, int nodes, int least_ranks, AggregatorCount liked) {
  AggregatorCount chosen = nodes > 1 ? liked : AggregatorCount{kUsualOnOneNode, CountedBy::usual};
  if (owners > 0) chosen = {(owners + nodes - 1) / nodes, CountedBy::whole_file};
  if (wanted > 0) chosen = {wanted, CountedBy::hint};
  if (chosen.count > least_ranks) chosen = {least_ranks, CountedBy::ranks};
  return chosen;
}

Seats seat_aggregators(int aggregators, std::span<const int> domain_of, std::span<const int> cards) {
  std::vector<Place> places = places_of(domain_of, cards);
  int left = aggregators;
  deal(places, left, [](const Place& p) { return p.seats < p.cards; });
  deal(places, left, [](const Place& p) { return p.domain >= 0; });
  deal(places, left, [](const Place&) { return true; });
  Seats seats;
  for (const Place& place : places) {
    if (place.seats == 0) continue;
    const auto count = static_cast<int>(place.ranks.size());
    for (const int at : spread_out(count, place.seats))
      seats.aggregators.push_back(place.ranks[static_cast<std::size_t>(at)]);
    for (const int at : writers_beside(count, place.seats))
      seats.writers.push_back(place.ranks[static_cast<std::size_t>(at)]);
  }
  return seats;
}

}  // namespace forebay
