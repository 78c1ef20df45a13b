// Parts of nodes against stripes that are looked at one by one.
#include "layout/own_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace forebay {
namespace {

TEST(OwnParts, AreTheStripesThatNobodyElseHas) {
  std::mt19937 random(3);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  int found = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::int64_t stripe = 100;
    const std::int64_t nodes = 2 + below(6);
    std::vector<Extent> hulls;
    std::int64_t at = below(500);
    for (std::int64_t n = 0; n < nodes; ++n) {
      const std::int64_t end = at + below(4000);
      hulls.push_back({at, end});
      at = below(6) == 0 ? std::max(at, end - below(300)) : end + below(3) * below(400);
    }
    std::ranges::shuffle(hulls, random);
    const auto own = own_parts(hulls, stripe);
    if (!own) continue;
    ++found;
    ASSERT_EQ(own->size(), hulls.size());
    for (std::int64_t s = 0; s * stripe < at + 5000; ++s) {
      const auto has = [&](const Extent& hull) {
        return !hull.empty() && hull.begin < (s + 1) * stripe && s * stripe < hull.end;
      };
      const auto writers = std::ranges::count_if(hulls, has);
      for (std::size_t n = 0; n < hulls.size(); ++n) {
        const bool owned = (*own)[n].begin <= s * stripe && s * stripe < (*own)[n].end;
        ASSERT_EQ(owned, writers == 1 && has(hulls[n])) << "stripe " << s << ", node " << n;
      }
    }
  }
  EXPECT_GT(found, 1000);
}

TEST(OwnParts, AreNotTakenWhereTheyGainNothing) {
  EXPECT_FALSE(own_parts(std::vector<Extent>{{0, 1000}, {0, 1000}}, 10)) << "interleaved";
  EXPECT_FALSE(own_parts(std::vector<Extent>{{0, 1000}, {300, 400}}, 10)) << "within another";
  EXPECT_FALSE(own_parts(std::vector<Extent>{{0, 700}, {400, 1000}}, 10)) << "much of it shared";
  EXPECT_FALSE(own_parts(std::vector<Extent>{{0, 1000}, {1000, 1010}, {1010, 1020}, {0, 0}}, 10))
      << "one would write nearly all of it";
  EXPECT_FALSE(own_parts(std::vector<Extent>{{0, 9}, {9, 18}}, 100)) << "one stripe";
  EXPECT_TRUE(own_parts(std::vector<Extent>{{0, 1000}, {1000, 2000}}, 10));
  EXPECT_TRUE(own_parts(std::vector<Extent>{{1000, 2000}, {5, 995}}, 10));
}

}  // namespace
}  // namespace forebay
