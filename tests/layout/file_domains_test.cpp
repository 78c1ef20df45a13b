// File domains against a slow, obvious table: blocks dealt out one by one to a list of owners.
#include "layout/file_domains.hpp"

#include <gtest/gtest.h>

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
