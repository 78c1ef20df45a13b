// The parts of the benchmark of checkpoints: one rate for all writers, what is lost, rows and peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_peers.hpp"
#include "checkpoint_results.hpp"
#include "checkpoint_rows.hpp"
#include "token_bucket.hpp"

namespace forebay::bench {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr TokenBucket::Clock::time_point start{std::chrono::hours(1)};

TEST(TokenBucket, WritersShareTheRate) {
  TokenBucket bucket(1e6);
  // The short lead, and the rest in turn; whoever comes meanwhile waits behind.
  EXPECT_EQ(bucket.take(100'000, start), start + milliseconds(98));
  EXPECT_EQ(bucket.take(100'000, start + milliseconds(50)), start + milliseconds(198));
}

TEST(TokenBucket, NothingIsSavedUp) {
  TokenBucket bucket(1e6);
  bucket.take(1000, start);
  EXPECT_EQ(bucket.take(10'000, start + milliseconds(5000)), start + milliseconds(5008));
}

TEST(TokenBucket, SmallWritesTakeTheirTimeTogether) {
  TokenBucket bucket(1e6);
  TokenBucket::Clock::time_point now = start;
  for (int i = 0; i < 10'000; ++i) now = std::max(now, bucket.take(50, now));
  EXPECT_GE(now, start + milliseconds(497));
  EXPECT_LE(now, start + milliseconds(500));
}

Sample sample(double total, double computing, double copy) {
  return {0, total, 0, 0, {{"computing_s", computing}, {"copy_s", copy}}};
}

CheckpointResults sample_results() {
  const auto cell = [](Peer peer, std::vector<Sample> samples) {
    return Cell{std::move(peer), std::move(samples)};
  };
  CheckpointResults results;
  results.checkpoints = 5;
  results.measured.ranks = 2;
  RowResult row{"f.slow", "", 5'000'000, 10, {}, {}};
  const std::vector<Peer> peers = checkpoint_peers("romio341", "/log", true);
  for (const Peer& peer : peers) {
    if (peer.name == "romio")
      row.cells.push_back(cell(peer, {sample(3, 1, .1), sample(4, 1, .1), sample(9, 2, .1)}));
    if (peer.name == "burst-buffer")
      row.cells.push_back(cell(peer, {sample(2, 1, .1), sample(2, 1, .1), sample(2, 1, .1)}));
    if (peer.name == "forebay")
      row.cells.push_back(cell(peer, {sample(2, 1, .1), sample(3, 1, .1), sample(2.5, 1, .1)}));
    if (peer.name == "background")
      row.cells.push_back(cell(peer, {sample(1.01, 1, .1), sample(.9, 1, .1), sample(1.2, 1, .1)}));
  }
  results.measured.rows.push_back(row);
  return results;
}

CheckpointRatio of(const std::vector<CheckpointRatio>& all, const std::string& peer) {
  for (const CheckpointRatio& one : all)
    if (one.peer == peer) return one;
  throw std::runtime_error("no " + peer);
}

TEST(CheckpointResults, RatiosAreOfWhatIsLost) {
  const std::vector<CheckpointRatio> all = checkpoint_ratios(sample_results());
  ASSERT_EQ(all.size(), 4u);
  const CheckpointRatio strict = of(all, "forebay");
  EXPECT_DOUBLE_EQ(strict.lost, 1.5);
  EXPECT_DOUBLE_EQ(strict.total, 2.5);
  EXPECT_EQ(strict.stock, "romio");  // a burst buffer is faster, and no stock library as most use it
  EXPECT_DOUBLE_EQ(strict.to_stock, 2);
  EXPECT_DOUBLE_EQ(strict.bound.value, 1.5);  // of 2/1, 3/2, 7/1.5
  EXPECT_DOUBLE_EQ(strict.to_copy, 15);
  EXPECT_FALSE(strict.at_limit);
  EXPECT_DOUBLE_EQ(of(all, "romio").to_stock, 1);
  EXPECT_DOUBLE_EQ(of(all, "burst-buffer").to_stock, 3);
}

TEST(CheckpointResults, NobodyLosesLessThanACopy) {
  const CheckpointResults results = sample_results();
  const CheckpointRatio background = of(checkpoint_ratios(results), "background");
  EXPECT_NEAR(background.lost, .01, 1e-9);
  EXPECT_TRUE(background.at_limit);
  EXPECT_DOUBLE_EQ(background.to_stock, 30);     // 3 s over the copy's 0.1
  EXPECT_DOUBLE_EQ(background.bound.value, 20);  // of 2/.1, 3/.1, 7/.2
  EXPECT_THAT(table(results), HasSubstr(">30.0"));
  EXPECT_TRUE(to_json(results)["ratios"][3]["at_limit"]);
}

TEST(CheckpointResults, LastLines) {
  CheckpointResults results = sample_results();
  EXPECT_EQ(
      closing_lines(results),
      "identical yes\nratio f.slow.burst-buffer 3.00\nratio f.slow 2.00\nratio f.slow.background 30.00\n");
  results.measured.rows[0].cells[2].differs = true;
  EXPECT_THAT(closing_lines(results), HasSubstr("identical no\n"));
  EXPECT_FALSE(to_json(results)["rows"][0]["peers"][2]["identical"]);
  EXPECT_THAT(to_svg(results), HasSubstr("f.slow, forebay: 1.5000 s"));
}

TEST(CheckpointPeers, EveryRowHasStockAndEachOfForebaysWays) {
  for (const RowInfo& row : checkpoint_rows()) {
    EXPECT_TRUE(row.alone) << row.name;  // what is computed is chosen for its checkpoints
    std::vector<std::string> names;
    for (const Peer& peer : checkpoint_peers("romio341", "/log", false))
      if (peer.takes_part(std::string(row.name))) names.push_back(peer.name);
    EXPECT_THAT(names,
                ::testing::ElementsAre("exact", "romio", "ompio", "forebay", "commit", "log", "background"))
        << row.name;
  }
  EXPECT_EQ(checkpoint_peers("romio341", "/log", true).front().kind, Kind::Reference);
  EXPECT_THROW(checkpoint_peers("", "/log", true), std::runtime_error);
}

}  // namespace
}  // namespace forebay::bench
