// Three ranks' values, reduced entry by entry as a collective call does it, come out as what they were named.
#include "ranks/agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace forebay {
namespace {

constexpr std::size_t kRanks = 3;
constexpr std::int64_t kMost = INT64_MAX, kLeast = INT64_MIN;

void reduce(std::array<Agreement, kRanks>& ranks) {
  for (Agreement& one : ranks) {
    for (Agreement& other : ranks) {
      ASSERT_EQ(one.least().size(), other.least().size());
      for (std::size_t i = 0; i < one.least().size(); ++i)
        one.least()[i] = other.least()[i] = std::min(one.least()[i], other.least()[i]);
    }
  }
  std::int64_t sum = 0;
  for (Agreement& one : ranks) sum += one.sums().empty() ? 0 : one.sums()[0];
  for (Agreement& one : ranks) {
    if (!one.sums().empty()) one.sums()[0] = sum;
    one.reduced();
  }
}

TEST(Agreement, GivesEachValueAsItWasNamed) {
  const std::int64_t begins[] = {kMost, 70, 300}, ends[] = {0, 90, -5}, bounds[] = {kLeast, kMost, 1};
  std::array<std::array<std::int64_t, 2>, kRanks> callers{{{1, -9}, {-4, -8}, {kMost, -7}}};
  std::array<Agreement, kRanks> ranks;
  Agreement::Minimum begin{}, least{};
  Agreement::Maximum end{}, greatest{};
  Agreement::All well{}, keep{};
  Agreement::Any some{}, none{};
  Agreement::Same equal{}, unequal{};
  for (std::size_t r = 0; r < kRanks; ++r) {
    Agreement& a = ranks[r];
    begin = a.minimum(begins[r]);
    end = a.maximum(ends[r]);
    well = a.all(true);
    a.maxima(callers[r]);
    keep = a.all(r != 1);
    some = a.any(r == 2);
    none = a.any(false);
    equal = a.same(-3);
    unequal = a.same(static_cast<std::int64_t>(r));
    least = a.minimum(bounds[r]);
    greatest = a.maximum(bounds[r]);
    a.sum(static_cast<std::int64_t>(10 * (r + 1)));
  }
  reduce(ranks);
  for (std::size_t r = 0; r < kRanks; ++r) {
    EXPECT_EQ(ranks[r][begin], 70);
    EXPECT_EQ(ranks[r][end], 90);
    EXPECT_TRUE(ranks[r][well]);
    EXPECT_FALSE(ranks[r][keep]);
    EXPECT_TRUE(ranks[r][some]);
    EXPECT_FALSE(ranks[r][none]);
    EXPECT_TRUE(ranks[r][equal]);
    EXPECT_FALSE(ranks[r][unequal]);
    EXPECT_EQ(ranks[r][least], kLeast);
    EXPECT_EQ(ranks[r][greatest], kMost);
    EXPECT_EQ(ranks[r].sum(), 60);
    EXPECT_EQ(callers[r], (std::array<std::int64_t, 2>{kMost, -7}));
  }
}

}  // namespace
}  // namespace forebay
