// How many aggregators a node has, which ranks they are, and that all ranks of a file find the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "../dice.hpp"
#include "ranks/threads.hpp"
#include "topology/topology.hpp"

namespace forebay {
namespace {

using testing::ElementsAre;

TEST(AggregatorCount, IsTheUsualOneWhereNothingIsKnown) {
  EXPECT_EQ(aggregators_for({16, 1, 0}), (AggregatorCount{4, CountedBy::usual}));
  EXPECT_EQ(aggregators_for({16, 1, 1}), (AggregatorCount{4, CountedBy::usual}));
  EXPECT_EQ(aggregators_for({16, 4, 4}), (AggregatorCount{4, CountedBy::usual}));
  EXPECT_EQ(aggregators_for({128, 1, 0}), (AggregatorCount{4, CountedBy::usual}));
  EXPECT_EQ(aggregators_for({12, 1, 0}), (AggregatorCount{3, CountedBy::usual}));
  EXPECT_EQ(aggregators_for({8, 1, 0}), (AggregatorCount{2, CountedBy::usual}));
  EXPECT_EQ(aggregators_for({3, 1, 0}), (AggregatorCount{2, CountedBy::usual}));
  EXPECT_EQ(aggregators_for({1, 1, 0}), (AggregatorCount{1, CountedBy::ranks}));
}

TEST(AggregatorCount, HasOneForEachCardAndDomain) {
  EXPECT_EQ(aggregators_for({128, 2, 8}), (AggregatorCount{8, CountedBy::cards}));
  EXPECT_EQ(aggregators_for({128, 8, 4}), (AggregatorCount{8, CountedBy::domains}));
  EXPECT_EQ(aggregators_for({8, 1, 8}), (AggregatorCount{4, CountedBy::cards})) << "and as many that write";
  EXPECT_EQ(aggregators_for({8, 8, 1}), (AggregatorCount{4, CountedBy::domains}));
  EXPECT_EQ(aggregators_for({4, 1, 4}), (AggregatorCount{2, CountedBy::usual}));
}

TEST(AggregatorCount, IsWhatAHintSays) {
  const AggregatorCount liked{8, CountedBy::cards};
  EXPECT_EQ(count_aggregators(3, 0, 4, 16, liked), (AggregatorCount{3, CountedBy::hint}));
  EXPECT_EQ(count_aggregators(3, 99, 4, 16, liked), (AggregatorCount{3, CountedBy::hint}));
  EXPECT_EQ(count_aggregators(0, 9, 4, 16, liked), (AggregatorCount{3, CountedBy::whole_file}));
  EXPECT_EQ(count_aggregators(0, 0, 4, 16, liked), liked);
  EXPECT_EQ(count_aggregators(0, 0, 4, 5, liked), (AggregatorCount{5, CountedBy::ranks}));
  EXPECT_EQ(count_aggregators(20, 0, 4, 16, liked), (AggregatorCount{16, CountedBy::ranks}));
  EXPECT_EQ(count_aggregators(0, 0, 1, 16, liked), (AggregatorCount{2, CountedBy::usual}))
      << "cards are nothing to a single node";
}

/// Ranks that fill domains one after the other.
std::vector<int> filled(int ranks, int domains) {
  std::vector<int> domain_of;
  for (int r = 0; r < ranks; ++r) domain_of.push_back(r * domains / ranks);
  return domain_of;
}

TEST(Seats, AreSpreadOutWhereDomainsAreNotKnown) {
  for (const int domain : {-1, 0}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const std::vector<int> domain_of(static_cast<std::size_t>(ranks), domain);
      for (int count = 1; count <= ranks; ++count) {
        const Seats seats = seat_aggregators(count, domain_of, {});
        EXPECT_EQ(seats.aggregators, spread_out(ranks, count));
        EXPECT_EQ(seats.writers, writers_beside(ranks, count));
      }
    }
  }
}

TEST(Seats, AreNearTheCards) {
  const std::vector<int> domain_of = filled(32, 4);
  EXPECT_THAT(seat_aggregators(2, domain_of, std::vector<int>{1, 3}).aggregators, ElementsAre(8, 24));
  EXPECT_THAT(seat_aggregators(2, domain_of, std::vector<int>{3, 3}).aggregators, ElementsAre(24, 28));
  EXPECT_THAT(seat_aggregators(4, domain_of, std::vector<int>{1, 3}).aggregators, ElementsAre(0, 8, 16, 24))
      << "then the domains without any";
  EXPECT_THAT(seat_aggregators(2, domain_of, std::vector<int>{-1, 9}).aggregators, ElementsAre(0, 8))
      << "cards that hang nowhere, or where no rank is";
  EXPECT_THAT(seat_aggregators(2, domain_of, std::vector<int>{2, 3}).writers, ElementsAre(17, 25));
}

TEST(Seats, TakeUnboundRanksLast) {
  EXPECT_THAT(seat_aggregators(2, std::vector<int>{-1, -1, 0, 1}, {}).aggregators, ElementsAre(2, 3));
  EXPECT_THAT(seat_aggregators(3, std::vector<int>{-1, -1, 0, 1}, {}).aggregators, ElementsAre(2, 3, 0));
}

TEST(Seats, AreEvenOverDomainsAndNobodyHasTwo) {
  test::Dice dice(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const int ranks = static_cast<int>(dice.between(1, 40)), domains = static_cast<int>(dice.between(1, 6));
    std::vector<int> domain_of, cards;
    for (int r = 0; r < ranks; ++r) domain_of.push_back(static_cast<int>(dice.between(-1, domains - 1)));
    for (std::int64_t c = dice.below(9); c > 0; --c)
      cards.push_back(static_cast<int>(dice.between(-1, domains - 1)));
    const int count = static_cast<int>(dice.between(1, ranks));
    const Seats seats = seat_aggregators(count, domain_of, cards);
    ASSERT_EQ(seats.aggregators.size(), static_cast<std::size_t>(count));
    ASSERT_EQ(std::set<int>(seats.aggregators.begin(), seats.aggregators.end()).size(),
              static_cast<std::size_t>(count));
    ASSERT_EQ(std::set<int>(seats.writers.begin(), seats.writers.end()).size(),
              static_cast<std::size_t>(count));
    const auto has_seat = [&](int rank) { return std::ranges::count(seats.aggregators, rank) > 0; };
    std::vector<int> seats_of(static_cast<std::size_t>(domains)), ranks_of(seats_of), cards_of(seats_of);
    for (int r = 0; r < ranks; ++r) {
      const int d = domain_of[static_cast<std::size_t>(r)];
      if (d < 0) continue;
      ++ranks_of[static_cast<std::size_t>(d)];
      if (has_seat(r)) ++seats_of[static_cast<std::size_t>(d)];
    }
    for (const int d : cards) {
      if (d >= 0) ++cards_of[static_cast<std::size_t>(d)];
    }
    for (std::size_t rail = 0; rail < seats.writers.size(); ++rail) {
      const int writer = seats.writers[rail], aggregator = seats.aggregators[rail];
      ASSERT_TRUE(writer == aggregator || !has_seat(writer)) << "who exchanges has no time to write";
      ASSERT_EQ(domain_of[static_cast<std::size_t>(writer)], domain_of[static_cast<std::size_t>(aggregator)]);
    }
    // Nobody could give a seat to a domain that has two less.
    for (std::size_t a = 0; a < seats_of.size(); ++a) {
      for (std::size_t b = 0; b < seats_of.size(); ++b) {
        if (seats_of[b] < std::min(ranks_of[b], cards_of[b]) && seats_of[a] > cards_of[a])
          FAIL() << "trial " << trial << ": a card waits for what a domain has beyond its cards";
        if (seats_of[b] == ranks_of[b] || seats_of[a] <= cards_of[a]) continue;
        ASSERT_LE(seats_of[a], seats_of[b] + 1) << "trial " << trial;
      }
    }
  }
}

/// One processor for each rank, and cards on these domains.
PretendNodes nodes_with(int ranks, int domains, const std::vector<int>& cards) {
  PretendNodes nodes;
  nodes.machine.domains.resize(static_cast<std::size_t>(domains), {0});
  for (int r = 0; r < ranks; ++r) {
    nodes.processors.push_back({std::uint64_t{1} << r});
    nodes.machine.domains[static_cast<std::size_t>(r * domains / ranks)][0] |= std::uint64_t{1} << r;
  }
  for (const int domain : cards) nodes.machine.cards.push_back({"card", domain});
  return nodes;
}

struct Made {
  int aggregators;
  CountedBy by;
  std::vector<int> rails;  // of each rank
  std::vector<int> writers;
  NodeParts parts;
};

Made made_by(int ranks, int ranks_of_node, const PretendNodes* nodes, int group = 0, int wanted = 0) {
  Made made{0, CountedBy::usual, std::vector<int>(static_cast<std::size_t>(ranks)), {}, {}};
  made.writers = made.rails;
  std::mutex mutex;
  run_as_ranks(
      ranks, ranks_of_node,
      [&](const Communicator& all) {
        const std::shared_ptr<const Communicator> mine = all.duplicate();
        const Topology t = make_topology(mine, group, wanted);
        const std::lock_guard lock(mutex);
        if (made.aggregators != 0) {
          EXPECT_EQ(made.aggregators, t.aggregators);
          EXPECT_EQ(made.by, t.counted_by);
        }
        made.aggregators = t.aggregators;
        made.by = t.counted_by;
        made.parts = t.parts;
        made.rails[static_cast<std::size_t>(all.rank())] = t.rail;
        made.writers[static_cast<std::size_t>(all.rank())] = t.writes_for;
        EXPECT_EQ(t.rail >= 0 && t.nodes > 1, t.rail_comm != nullptr);
        EXPECT_EQ(t.rail_comm != nullptr, t.aggregator_comm != nullptr);
        if (t.rail_comm != nullptr) {
          EXPECT_EQ(t.rail_comm->rank(), t.node);
          EXPECT_EQ(t.aggregator_comm->size(), t.nodes * t.aggregators);
        }
      },
      nodes);
  return made;
}

TEST(Topology, SeatsAggregatorsNearCards) {
  const PretendNodes nodes = nodes_with(8, 2, {1, 1, 1, 0});
  const Made made = made_by(16, 8, &nodes);
  EXPECT_EQ(made.aggregators, 4);
  EXPECT_EQ(made.by, CountedBy::cards);
  EXPECT_EQ(made.parts.domains, 2);
  EXPECT_EQ(made.parts.cards, 4);
  EXPECT_THAT(made.rails, ElementsAre(0, -1, -1, -1, 1, -1, 2, 3, 0, -1, -1, -1, 1, -1, 2, 3));
  EXPECT_THAT(made.writers, ElementsAre(-1, 0, -1, -1, -1, 1, 2, 3, -1, 0, -1, -1, -1, 1, 2, 3));
}

TEST(Topology, SeatsTheHintsNumberNearCards) {
  const PretendNodes nodes = nodes_with(8, 4, {3});
  const Made made = made_by(16, 8, &nodes, 0, 1);
  EXPECT_EQ(made.by, CountedBy::hint);
  EXPECT_THAT(made.rails, ElementsAre(-1, -1, -1, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1, 0, -1));
}

TEST(Topology, OfOneNodeAsksForNothing) {
  const PretendNodes nodes = nodes_with(8, 4, {0, 1, 2, 3, 0, 1, 2, 3});
  const Made made = made_by(8, 8, &nodes);
  EXPECT_EQ(made.aggregators, 2);
  EXPECT_EQ(made.parts.cards, 0);
  EXPECT_THAT(made.rails, ElementsAre(0, -1, -1, -1, 1, -1, -1, -1));
}

TEST(Topology, GroupsOfANodeShareItsCards) {
  const PretendNodes nodes = nodes_with(16, 1, {0, 0, 0, 0, 0, 0});
  const Made made = made_by(16, 16, &nodes, 8);
  EXPECT_EQ(made.aggregators, 3);
  EXPECT_EQ(made.parts.cards, 3);
}

TEST(Topology, OfNodesThatNobodyKnowsIsTheUsualOne) {
  const Made made = made_by(32, 16, nullptr);
  EXPECT_EQ(made.aggregators, 4);
  EXPECT_EQ(made.by, CountedBy::usual);
  for (int r = 0; r < 32; ++r)
    EXPECT_EQ(made.rails[static_cast<std::size_t>(r)], r % 4 == 0 ? r % 16 / 4 : -1) << r;
}

TEST(Topology, OfUnlikeNodesFitsTheSmallest) {
  const PretendNodes nodes = nodes_with(8, 4, {});
  const Made made = made_by(8 + 3, 8, &nodes);
  EXPECT_EQ(made.aggregators, 3);
  EXPECT_EQ(made.by, CountedBy::ranks);
}

}  // namespace
}  // namespace forebay
