// Parts of nodes against stripes that are looked at one by one.
#include "layout/own_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

namespace forebay {
namespace {

using Touched = std::vector<std::vector<Extent>>;

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  std::int64_t below(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most));
  }

 private:
  std::mt19937 random_;
};

bool has(std::span<const Extent> extents, std::int64_t at) {
  return std::ranges::any_of(extents, [&](const Extent& e) { return e.begin <= at && at < e.end; });
}

// Ascending and apart.
void expect_in_order(std::span<const Extent> extents) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    EXPECT_FALSE(extents[i].empty());
    if (i > 0) {
      EXPECT_LT(extents[i - 1].end, extents[i].begin);
    }
  }
}

TEST(StripesOf, HoldAllThatIsTouched) {
  Random random(4);
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<Extent> hulls;
    for (std::int64_t n = random.below(20); n > 0; --n) {
      const std::int64_t begin = random.below(9000);
      hulls.push_back({begin, begin + random.below(500) - 20});
    }
    const auto most = static_cast<std::size_t>(1 + random.below(12));
    const std::vector<Extent> stripes = stripes_of(hulls, 100, most);
    const std::vector<Extent> exact = stripes_of(hulls, 100, 1000);
    ASSERT_LE(stripes.size(), most);
    expect_in_order(stripes);
    expect_in_order(exact);
    ASSERT_EQ(stripes.size(), std::min(most, exact.size()));
    for (std::int64_t s = 0; s < 100; ++s) {
      const bool touched = std::ranges::any_of(
          hulls, [&](const Extent& e) { return !e.empty() && e.begin < (s + 1) * 100 && s * 100 < e.end; });
      ASSERT_EQ(has(exact, s), touched) << s;
      ASSERT_TRUE(has(stripes, s) || !touched) << s;
    }
    // What comes with them are the smallest gaps.
    std::int64_t widest_filled = 0, smallest_left = kNoOffset;
    for (std::size_t i = 1; i < exact.size(); ++i) {
      const std::int64_t gap = exact[i].begin - exact[i - 1].end;
      if (has(stripes, exact[i - 1].end))
        widest_filled = std::max(widest_filled, gap);
      else
        smallest_left = std::min(smallest_left, gap);
    }
    ASSERT_LE(widest_filled, smallest_left);
  }
}

TEST(OwnParts, AreTheStripesThatNobodyElseHas) {
  Random random(3);
  int found = 0, with_shared = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::int64_t stripe = 100;
    Touched touched(static_cast<std::size_t>(2 + random.below(6)));
    // Variables, each cut among the nodes.
    std::int64_t at = random.below(5);
    for (std::int64_t v = 0; v <= random.below(5); ++v) {
      for (auto& node : touched) {
        const std::int64_t end = at + random.below(40);
        if (at < end) node.push_back({at, end});
        at = random.below(6) == 0 ? std::max(at, end - random.below(4)) : end + random.below(3);
      }
    }
    for (auto& node : touched) node = joined(node, 1000);
    std::ranges::shuffle(touched, std::mt19937(static_cast<unsigned>(trial)));
    const auto own = own_parts(touched, stripe);
    if (!own) continue;
    ++found;
    ASSERT_EQ(own->of_node.size(), touched.size());
    std::int64_t first_shared = kNoOffset;
    for (std::int64_t s = 0; s < at + 50; ++s) {
      const auto nodes = std::ranges::count_if(touched, [&](const auto& e) { return has(e, s); });
      if (nodes > 1) first_shared = std::min(first_shared, s * stripe);
      for (std::size_t n = 0; n < touched.size(); ++n) {
        ASSERT_EQ(has(own->of_node[n], s * stripe), nodes == 1 && has(touched[n], s)) << s << ' ' << n;
        ASSERT_EQ(has(own->of_node[n], s * stripe + stripe - 1), has(own->of_node[n], s * stripe));
      }
    }
    EXPECT_EQ(own->first_shared, first_shared);
    with_shared += first_shared == kNoOffset ? 0 : 1;
    for (const auto& node : own->of_node) expect_in_order(node);
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(with_shared, 300);
}

TEST(OwnParts, AreNotTakenWhereTheyGainNothing) {
  const auto touched = [](std::initializer_list<Extent> nodes) {
    Touched all;
    for (const Extent& e : nodes) all.push_back(joined({e}, 1));
    return all;
  };
  EXPECT_FALSE(own_parts(touched({{0, 100}, {0, 100}}), 10)) << "interleaved";
  EXPECT_FALSE(own_parts(touched({{0, 70}, {40, 100}}), 10)) << "much of it shared";
  EXPECT_FALSE(own_parts(touched({{0, 100}, {100, 101}, {101, 102}, {0, 0}}), 10))
      << "one would write nearly all of it";
  EXPECT_FALSE(own_parts(touched({{0, 1}, {0, 1}}), 100)) << "one stripe";
  EXPECT_TRUE(own_parts(touched({{0, 100}, {100, 200}}), 10));
  EXPECT_TRUE(own_parts(touched({{100, 200}, {0, 101}}), 10));
  EXPECT_TRUE(own_parts(Touched{{{0, 10}, {20, 30}, {40, 50}}, {{10, 20}, {30, 40}, {50, 60}}}, 10))
      << "by turns";
}

}  // namespace
}  // namespace forebay
