// The parts of every benchmark: how sure a ratio is, what is said at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "benchmark_results.hpp"
#include "rows.hpp"

namespace forebay::bench {
namespace {

using ::testing::HasSubstr;

TEST(Statistics, Median) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

TEST(Statistics, TheBoundIsAnOrderStatistic) {
  // Of n fair coins, fewer than k fall below with these probabilities; from a table of the binomial
  // distribution.
  EXPECT_EQ(lower_bound_of_median({2, 1, 3}).value, 1);
  EXPECT_NEAR(lower_bound_of_median({2, 1, 3}).confidence, 0.875, 1e-9);
  EXPECT_EQ(lower_bound_of_median({5, 4, 3, 2, 1}).value, 1);
  EXPECT_NEAR(lower_bound_of_median({5, 4, 3, 2, 1}).confidence, 0.96875, 1e-9);
  EXPECT_EQ(lower_bound_of_median({1, 2, 3, 4, 5, 6, 7}).value, 1);
  EXPECT_EQ(lower_bound_of_median({1, 2, 3, 4, 5, 6, 7, 8}).value, 2);
  EXPECT_NEAR(lower_bound_of_median({1, 2, 3, 4, 5, 6, 7, 8}).confidence, 1 - 9.0 / 256, 1e-9);
}

TEST(Statistics, TheBoundHoldsAsOftenAsItSays) {
  std::mt19937 random(7);
  std::exponential_distribution<double> skewed;  // its median is ln 2
  int held = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<double> values(9);
    for (double& value : values) value = skewed(random);
    held += lower_bound_of_median(values).value <= std::log(2.0);
  }
  EXPECT_GT(held, 4000 * 0.95);
}

BenchmarkResults sample_results() {
  const auto cell = [](const std::string& name, Kind kind, const std::string& mode,
                       std::vector<double> seconds) {
    Cell made{{name, name, kind, {}, {}, mode, false}, {}, 0, false};
    for (const double s : seconds) made.samples.push_back({9, s, 0, 0});
    return made;
  };
  BenchmarkResults results;
  results.ranks = 2;
  results.rows.push_back({"block", "", 1000, 10, {}, {1}});
  results.rows[0].cells = {cell("slow", Kind::Stock, "", {30, 30, 31}),
                           cell("fast", Kind::Stock, "", {10, 12, 99}),
                           cell("forebay", Kind::Forebay, "strict", {2, 6, 4}),
                           cell("commit", Kind::Forebay, "commit", {1, 2, 3})};
  return results;
}

TEST(Results, RatiosAreThoseOfTheFastestStock) {
  const BenchmarkResults results = sample_results();
  const std::vector<Ratio> all = ratios(results);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].row, "block");
  EXPECT_EQ(all[0].stock, "fast");
  EXPECT_DOUBLE_EQ(all[0].value, 3);        // 12 / 4
  EXPECT_DOUBLE_EQ(all[0].bound.value, 2);  // of 5, 2, 24.75
  EXPECT_DOUBLE_EQ(all[0].whole, 21.0 / 13);
  EXPECT_EQ(closing_lines(results), "identical yes\nratio block 3.00\nratio block.commit 6.00\n");
  EXPECT_EQ(to_json(results)["ratios"][1]["ratio"], 6.0);
  EXPECT_THAT(table(results), HasSubstr("block.commit"));
  EXPECT_THAT(to_svg(results), HasSubstr("block, forebay: 4.0000 s"));
}

TEST(Results, TheFastestPeerOfAModeMakesItsRatio) {
  BenchmarkResults results = sample_results();
  Cell other = results.rows[0].cells[2];
  other.peer.name = "forebay-multi";
  for (Sample& sample : other.samples) sample.data /= 2;
  results.rows[0].cells.push_back(other);
  const std::vector<Ratio> all = ratios(results);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].forebay, "forebay-multi");
  EXPECT_DOUBLE_EQ(all[0].value, 6);
  results.rows[0].cells[2].differs = true;  // the slower one's file counts too
  EXPECT_FALSE(ratios(results)[0].identical);
}

TEST(Peers, TakePartInTheirRows) {
  Peer peer = forebay_peer("one", "strict");
  EXPECT_TRUE(peer.takes_part("any"));
  peer.rows = {"this"};
  EXPECT_TRUE(peer.takes_part("this"));
  EXPECT_FALSE(peer.takes_part("any"));
}

TEST(Results, ADifferingFileShows) {
  BenchmarkResults results = sample_results();
  results.rows[0].cells[2].differs = true;
  EXPECT_FALSE(results.all_identical());
  EXPECT_THAT(closing_lines(results), HasSubstr("identical no\n"));
  EXPECT_FALSE(to_json(results)["rows"][0]["peers"][2]["identical"]);
}

TEST(Rows, AreFoundByName) {
  const RowInfo rows[] = {{"one", "", true}, {"two", "", false}};
  EXPECT_EQ(&find_row(rows, "two"), rows + 1);
  EXPECT_THROW(find_row(rows, "nothing"), std::runtime_error);
  EXPECT_EQ(parse_size("quick"), Size::Quick);
  EXPECT_THROW(parse_size("enormous"), std::runtime_error);
}

}  // namespace
}  // namespace forebay::bench
