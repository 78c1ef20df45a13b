// The benchmark's parts: how sure a ratio is, what is said at the end, whether a difference between files is
// seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "classic_writer.hpp"
#include "compare_files.hpp"
#include "results.hpp"
#include "rows.hpp"

namespace forebay::bench {
namespace {

using test::ClassicWriter;
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

Results sample_results() {
  const auto cell = [](const std::string& name, Kind kind, const std::string& mode,
                       std::vector<double> seconds) {
    Cell made{{name, name, kind, {}, {}, mode, false}, {}, 0, false};
    for (const double s : seconds) made.samples.push_back({9, s, 0, 0});
    return made;
  };
  Results results;
  results.ranks = 2;
  results.rows.push_back({"block", "", 1000, 10, {}, {1}});
  results.rows[0].cells = {cell("slow", Kind::Stock, "", {30, 30, 31}),
                           cell("fast", Kind::Stock, "", {10, 12, 99}),
                           cell("forebay", Kind::Forebay, "strict", {2, 6, 4}),
                           cell("commit", Kind::Forebay, "commit", {1, 2, 3})};
  return results;
}

TEST(Results, RatiosAreThoseOfTheFastestStock) {
  const Results results = sample_results();
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

TEST(Results, ADifferingFileShows) {
  Results results = sample_results();
  results.rows[0].cells[2].differs = true;
  EXPECT_FALSE(results.all_identical());
  EXPECT_THAT(closing_lines(results), HasSubstr("identical no\n"));
  EXPECT_FALSE(to_json(results)["rows"][0]["peers"][2]["identical"]);
}

// One record variable of integers over 6 elements, of which nobody puts the last two.
class CompareFilesTest : public ::testing::Test {
 protected:
  CompareFilesTest() {
    file_.records = 3;
    file_.dimensions = {{"time", 0}, {"x", 6}};
    file_.variables = {{"field", {0, 1}, ClassicWriter::int32, std::vector<std::int64_t>(18, 0)}};
    for (std::size_t i = 0; i < 18; ++i)
      if (i % 6 < 4) file_.variables[0].values[i] = 0x01020304;
    file_.save(one_);
  }

  FileComparison compare() {
    file_.save(two_);
    return compare_files(one_, two_);
  }

  ClassicWriter file_;
  std::string one_ = ::testing::TempDir() + "bench_one", two_ = ::testing::TempDir() + "bench_two";
};

TEST_F(CompareFilesTest, CountsWhatWasPut) {
  EXPECT_TRUE(compare().same());
  EXPECT_EQ(bytes_put(one_), 3 * 4 * 4);
}

TEST_F(CompareFilesTest, TellsLostBytesFromUntouchedOnes) {
  file_.variables[0].values[3] = 0x01020305;
  EXPECT_EQ(compare().differences, 1);
  EXPECT_THAT(compare().first, HasSubstr("among the records"));
  file_.variables[0].values[4] = 7;
  EXPECT_EQ(compare().differences, 1);
  EXPECT_EQ(compare().untouched, 1);
  EXPECT_FALSE(compare().same());
}

TEST_F(CompareFilesTest, SeesHeaderAndLength) {
  file_.dimensions[1].first = "y";
  EXPECT_EQ(compare().differences, 1);
  EXPECT_THAT(compare().first, HasSubstr("in the header"));
  file_.dimensions[1].first = "x";
  file_.save(two_);
  std::ofstream(two_, std::ios::app) << '\0';
  EXPECT_THAT(compare_files(one_, two_).first, HasSubstr("length"));
}

TEST(Rows, AreFoundByName) {
  for (const RowInfo& row : all_rows()) EXPECT_EQ(&find_row(row.name), &row);
  EXPECT_THROW(find_row("nothing"), std::runtime_error);
  EXPECT_EQ(parse_size("quick"), Size::Quick);
  EXPECT_THROW(parse_size("enormous"), std::runtime_error);
  std::size_t quick = 0;
  for (const RowInfo& row : all_rows()) quick += row.quick ? 1 : 0;
  EXPECT_LE(quick, 8u);
}

TEST(Peers, FollowTheVersion) {
  const auto find = [](const std::vector<Peer>& peers, const std::string& name) -> const Peer* {
    for (const Peer& peer : peers)
      if (peer.name == name) return &peer;
    return nullptr;
  };
  const std::vector<Peer> old = peers_of("1.14.0", "romio341"), fresh = peers_of("1.15.1", "romio341");
  EXPECT_EQ(old.front().kind, Kind::Reference);
  EXPECT_EQ(find(old, "own"), nullptr);
  ASSERT_NE(find(fresh, "own"), nullptr);
  EXPECT_TRUE(find(fresh, "own")->hints.empty());
  EXPECT_THAT(find(fresh, "romio")->hints, ::testing::Contains("nc_driver=mpiio"));
  EXPECT_TRUE(find(old, "romio")->hints.empty());
  for (const Peer& peer : old) EXPECT_NE(find(all_peers(), peer.name), nullptr);
}

}  // namespace
}  // namespace forebay::bench
