// File domains against a slow, obvious table: blocks dealt out one by one to a list of owners.
#include "layout/file_domains.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace forebay {
namespace {

using Rng = std::mt19937_64;

std::int64_t pick(Rng& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

struct Case {
  Striping striping;
  std::int64_t round;
  std::int64_t block;
  OwnerSet set;
};

/// The owners in the order in which they get blocks: a rail after the other, across all nodes that own.
std::vector<Owner> dealt(const OwnerSet& set) {
  std::vector<Owner> out;
  for (int rail = 0; rail < set.rails; ++rail) {
    if (set.owning.empty()) {
      for (int node = 0; node < set.nodes; ++node) out.push_back({node, rail});
    } else {
      for (const int node : set.owning) out.push_back({node, rail});
    }
  }
  return out;
}

/// The owner of each byte of [begin, end), counted from the file's begin, block by block.
std::vector<Owner> table(const Case& c, int owners, std::int64_t begin, std::int64_t end) {
  const std::vector<Owner> all = dealt(c.set);
  std::vector<Owner> out;
  std::int64_t block = begin / c.block;
  std::size_t turn = static_cast<std::size_t>(block % owners);
  for (std::int64_t at = begin; at < end; ++at) {
    if (at == (block + 1) * c.block)
      ++block, turn = turn + 1 == static_cast<std::size_t>(owners) ? 0 : turn + 1;
    out.push_back(all[turn]);
  }
  return out;
}

/// Every byte of the round of `offset` has the owner that the table says, in one part of ascending ones;
/// `hull` cuts the first and the last.
void check(const Case& c, std::int64_t offset, Extent hull) {
  const FileDomains domains(c.striping, c.round, c.set, c.block);
  const std::int64_t base = domains.round_begin(offset);
  ASSERT_EQ(base % c.round, 0);
  ASSERT_LE(base, offset);
  ASSERT_GT(base + c.round, offset);
  const std::vector<Owner> owner = table(c, domains.owners(), base, base + c.round);
  ASSERT_EQ(domains.owner(offset), owner[static_cast<std::size_t>(offset - base)]);
  std::int64_t at = std::max(base, hull.begin);
  domains.for_each_part(base, hull, [&](const DomainPart& s) {
    ASSERT_EQ(s.begin, at);
    ASSERT_GT(s.end, s.begin);
    ASSERT_EQ(s.begin / c.block, (s.end - 1) / c.block) << "a block is never joined to its neighbour";
    ASSERT_EQ(s.owner, domains.owner(s.begin));
    for (; at < s.end; ++at) ASSERT_EQ(s.owner, owner[static_cast<std::size_t>(at - base)]) << at;
  });
  ASSERT_EQ(at, std::max({base, hull.begin, std::min(base + c.round, hull.end)}));
}

OwnerSet random_set(Rng& rng) {
  OwnerSet set;
  set.nodes = static_cast<int>(pick(rng, 1, 9));
  set.rails = static_cast<int>(pick(rng, 1, 3));
  if (pick(rng, 0, 1) == 0) return set;
  for (int node = 0; node < set.nodes; ++node) {
    if (pick(rng, 0, 2) == 0) set.owning.push_back(node);
  }
  return set;  // empty again: all
}

TEST(FileDomains, LikeATable) {
  Rng rng(17);
  for (int trial = 0; trial < 3000 && !::testing::Test::HasFatalFailure(); ++trial) {
    SCOPED_TRACE(trial);
    Case c;
    c.striping = {pick(rng, 1, 700), pick(rng, 0, 2) == 0 ? pick(rng, 1, 40) : 0};
    c.round = pick(rng, 1, 5000);
    c.block = c.striping.unit * (pick(rng, 0, 1) == 0 ? 1 : pick(rng, 1, 12));
    c.set = random_set(rng);
    const std::int64_t far = pick(rng, 0, 1) == 0 ? 0 : std::int64_t{1} << pick(rng, 31, 60);
    const std::int64_t offset = far + pick(rng, 0, 100000);
    const std::int64_t begin = std::max<std::int64_t>(0, offset - 1000 + pick(rng, 0, 2000));
    check(c, offset, {0, kNoOffset});
    check(c, offset, {begin, begin + pick(rng, 0, 3000)});
  }
}

TEST(FileDomains, ContiguousDomainsAreOneBlockEach) {
  // 10 stripes over 2 nodes of 2 rails: 3, 3, 3 and 1.
  const FileDomains domains({100}, 4096, {2, 2}, 300);
  std::vector<DomainPart> parts;
  domains.for_each_part(0, {0, 1000}, [&](const DomainPart& s) { parts.push_back(s); });
  ASSERT_EQ(parts.size(), 4U);
  const std::vector<Owner> owners{{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(parts[i].owner, owners[i]);
  EXPECT_EQ(parts[3].begin, 900);
  EXPECT_EQ(parts[3].end, 1000);
}

TEST(FileDomains, MoreOwnersThanStripes) {
  const FileDomains domains({1000}, 4096, {64, 2});
  EXPECT_EQ(domains.owners(), 128);
  int next = 0;
  domains.for_each_part(0, {0, 2500}, [&](const DomainPart& s) { EXPECT_EQ(s.owner, (Owner{next++, 0})); });
  EXPECT_EQ(next, 3);
}

TEST(FileDomains, OneOwnerHasAll) {
  const FileDomains domains({7}, 4096, {3, 2, {2}});
  EXPECT_EQ(domains.owners(), 2);
  const FileDomains one({7}, 4096, {3, 1, {2}});
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{6}, std::int64_t{7}, std::int64_t{1} << 61})
    EXPECT_EQ(one.owner(offset), (Owner{2, 0}));
}

// Groups of three nodes, of which the first owns.
TEST(FileDomains, GroupsOfSeveralNodes) {
  const OwnerSet set{8, 1, {0, 3, 6}};
  const FileDomains domains({10}, 4096, set);
  for (std::int64_t stripe = 0; stripe < 30; ++stripe)
    EXPECT_EQ(domains.owner(stripe * 10 + 9), (Owner{static_cast<int>(stripe % 3 * 3), 0}));
}

TEST(FileDomains, AStorageTargetHasFewOwners) {
  for (int most = 1; most <= 70; ++most) {
    const OwnerSet set{most, 1};
    EXPECT_EQ(set.count(0), most);
    for (std::int64_t factor = 1; factor <= 140; ++factor) {
      const int owners = set.count(factor);
      ASSERT_GE(owners, 1);
      ASSERT_LE(owners, most);
      ASSERT_GE(2 * owners, most) << "more than half of the owners would be idle";
      // The next number that fits is too large, or there is none in reach.
      int expected = most;
      for (int n = 1; n <= most; ++n) {
        if (2 * n >= most && (factor % n == 0 || n % factor == 0)) expected = n;
      }
      ASSERT_EQ(owners, expected) << most << " owners, " << factor << " targets";
    }
  }
  // 4 targets, 8 owners: those of a target's stripes are two, and theirs are its alone.
  const FileDomains domains({1, 4}, 4096, {5, 2});
  EXPECT_EQ(domains.owners(), 8);
  for (std::int64_t stripe = 0; stripe < 100; ++stripe)
    EXPECT_EQ(domains.owner(stripe), domains.owner(stripe % 8));
}

/// The writes of a flush that fills `hull`, as its owners make them: an owner's neighbouring parts of a round
/// are one write.
struct Write {
  std::int64_t begin, end;
  Owner owner;
};
std::vector<Write> writes_of(const FileDomains& domains, Extent hull) {
  std::vector<Write> out;
  for (std::int64_t base = domains.round_begin(hull.begin); base < hull.end; base += domains.round_bytes()) {
    std::vector<Write> round;
    domains.for_each_part(base, hull, [&](const DomainPart& part) {
      const auto mine = std::ranges::find_if(round.rbegin(), round.rend(),
                                             [&](const Write& write) { return write.owner == part.owner; });
      if (mine != round.rend() && mine->end == part.begin) {
        mine->end = part.end;
      } else {
        round.push_back({part.begin, part.end, part.owner});
      }
    });
    out.insert(out.end(), round.begin(), round.end());
  }
  return out;
}

/// Stripes as file systems have them, of one and of many owners, in memory that may be less than a stripe.
TEST(RoundBytes, NoWriteStraddlesAndAStripeHasOneWriter) {
  constexpr std::int64_t quantum = 64 << 10;
  Rng rng(19);
  int parts_of_stripes = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(trial);
    const std::int64_t stripe =
        quantum * (pick(rng, 0, 1) == 0 ? std::int64_t{1} << pick(rng, 0, 9) : pick(rng, 1, 700));
    OwnerSet set = random_set(rng);
    const std::int64_t factor = pick(rng, 0, 1) == 0 ? 0 : pick(rng, 1, 40);
    const int owners = set.count(factor);
    const std::int64_t most = pick(rng, quantum, 24 << 20);
    const std::int64_t wanted = pick(rng, 0, 1) == 0 ? 0 : pick(rng, quantum, 48 << 20);
    const std::int64_t round = choose_round_bytes(stripe, owners, wanted, most);
    ASSERT_LE(round, most);
    ASSERT_TRUE(round % stripe == 0 || stripe % round == 0) << stripe << ", " << round;
    if (round < stripe) ++parts_of_stripes;
    const FileDomains domains({stripe, factor}, round, set);
    const std::int64_t far = stripe * pick(rng, 0, 1000);
    const Extent hull{far + pick(rng, 0, 2 * stripe), far + 2 * stripe + pick(rng, 1, 6 * stripe)};
    std::vector<std::vector<Owner>> writers(10);
    for (const Write& write : writes_of(domains, hull)) {
      const std::int64_t first = write.begin / stripe, last = (write.end - 1) / stripe;
      // An only owner joins whole stripes, and there is nobody whom it could meet in one.
      ASSERT_TRUE(first == last || owners == 1) << "[" << write.begin << ", " << write.end << ") straddles";
      const bool begins_well = write.begin % std::min(round, stripe) == 0 || write.begin == hull.begin;
      const bool ends_well = write.end % std::min(round, stripe) == 0 || write.end == hull.end;
      ASSERT_TRUE(begins_well && ends_well) << "[" << write.begin << ", " << write.end << ")";
      for (std::int64_t s = first; s <= last; ++s) {
        auto& of_stripe = writers.at(static_cast<std::size_t>(s - far / stripe));
        if (std::ranges::find(of_stripe, write.owner) == of_stripe.end()) of_stripe.push_back(write.owner);
      }
    }
    for (const auto& of_stripe : writers) ASSERT_LE(of_stripe.size(), 1U);
  }
  EXPECT_GT(parts_of_stripes, 500);
}

TEST(RoundBytes, PartsOfAStripeAreDivisorsOfIt) {
  constexpr std::int64_t mega = 1 << 20;
  EXPECT_EQ(choose_round_bytes(16 * mega, 4, 0, 5595136), 4 * mega);
  EXPECT_EQ(choose_round_bytes(16 * mega, 1, 3 * mega, 256 * mega), 2 * mega);
  EXPECT_EQ(choose_round_bytes(7 * mega, 1, 0, 6 * mega), 7 * mega / 2);
  EXPECT_EQ(choose_round_bytes(48 * mega, 1, 0, 20 * mega), 16 * mega);
  // 1031 pages, which is a prime: a barrier for each of them would be dear.
  EXPECT_EQ(choose_round_bytes(1031 * 4096, 1, 0, 2 * mega), 344 * 4096);
  EXPECT_EQ(choose_round_bytes(std::int64_t{1} << 50, 1, 0, 256 * mega), 256 * mega);
}

TEST(RoundBytes, WholeStripesOrEqualPartsWithinTheBound) {
  Rng rng(18);
  for (int trial = 0; trial < 5000; ++trial) {
    const std::int64_t stripe = pick(rng, 1, 3000000);
    const int owners = static_cast<int>(pick(rng, 1, 9));
    const std::int64_t wanted = pick(rng, 0, 1) == 0 ? 0 : pick(rng, 1, 9000000);
    const std::int64_t most = pick(rng, 4096, 20000000);
    const std::int64_t round = choose_round_bytes(stripe, owners, wanted, most);
    ASSERT_GE(round, 4096);
    ASSERT_EQ(round % 4096, 0);
    ASSERT_LE(round, most);
    if (stripe % 4096 != 0) continue;
    const std::int64_t asked = wanted > 0 ? wanted : std::max<std::int64_t>(stripe * owners, 1 << 20);
    if (std::min(most, asked) / 4096 * 4096 >= stripe) {
      ASSERT_EQ(round % stripe, 0) << "whole stripes";
    } else {
      ASSERT_LE(round, stripe);
    }
  }
}

}  // namespace
}  // namespace forebay
