// forebay_owner_nodes over threads as ranks: ranks of other nodes never touch the file in collective calls,
// and the file is what it is without the hint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/hints.hpp"
#include "engine/core_file.hpp"
#include "ranks/threads.hpp"
#include "request/memory_stream.hpp"
#include "run_list_cursor.hpp"

namespace forebay::test {
namespace {

constexpr int kRanksPerNode = 3;
constexpr int kNodes = 4;
constexpr int kRanks = kNodes * kRanksPerNode;
constexpr std::int64_t kStripe = 4096;

/// What a rank puts: runs of the file, in order.
enum class Pattern { interleaved, parts_of_their_own, few_runs, far_apart };
constexpr Pattern kPatterns[] = {Pattern::few_runs, Pattern::interleaved, Pattern::parts_of_their_own,
                                 Pattern::far_apart};

std::vector<Run> runs_of(Pattern pattern, int rank) {
  std::vector<Run> runs;
  std::int64_t stream = 0;
  const auto add = [&](std::int64_t at, std::int64_t length) {
    runs.push_back({at, stream, length});
    stream += length;
  };
  switch (pattern) {
    case Pattern::interleaved:
      for (int i = 0; i < 700; ++i) add(100 + (std::int64_t{i} * kRanks + rank) * 24, 20);
      break;
    case Pattern::parts_of_their_own:
      for (int i = 0; i < 40; ++i) add(rank * 50'000 + i * 1000, 700);
      break;
    case Pattern::few_runs:
      add(50 + rank * 300, 200);
      break;
    case Pattern::far_apart:
      for (int i = 0; i < 30; ++i) add((std::int64_t{i} * 9 + rank % 2) * kStripe + rank * 100, 90);
      break;
  }
  return runs;
}

std::byte value_of(std::int64_t at, unsigned salt) {
  return static_cast<std::byte>(at * 11 + at / 4096 + salt);
}

std::vector<std::byte> bytes_of(const std::vector<Run>& runs, unsigned salt) {
  std::vector<std::byte> bytes;
  for (const Run& run : runs) {
    for (std::int64_t i = 0; i < run.length; ++i) bytes.push_back(value_of(run.file + i, salt));
  }
  return bytes;
}

struct Case {
  std::string owners;               ///< the hint
  std::string others_say = owners;  ///< what ranks other than 0 have read
  std::vector<int> nodes;           ///< that may own
  std::string reported = owners;
  bool owns(int node) const { return std::ranges::count(nodes, node) > 0; }
};

Case some(const std::string& hint, std::vector<int> nodes, const std::string& reported) {
  return {hint, hint, std::move(nodes), reported};
}

std::string text_at(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One rank's writes and reads of every pattern; `wrote`, `read`: what it has done to the file, by rank.
void run_rank(const Communicator& ranks, const Case& c, const std::string& hints, const std::string& path,
              std::vector<Counters>& counters) {
  const auto me = static_cast<std::size_t>(ranks.rank());
  FileOptions options;
  options.path = path;
  options.mode.creates = true;
  options.driver = "test";
  options.keeping = Keeping::by_rank;
  const Status parsed = parse_hints(
      options.settings,
      "forebay_storage=posix;forebay_bypass_bytes=0;forebay_stripe_bytes=4096;forebay_stats=" + path +
          ".json;forebay_owner_nodes=" + (me == 0 ? c.owners : c.others_say) + ";" + hints,
      Origin::call);
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  std::unique_ptr<CoreFile> file;
  const Status opened = CoreFile::open(ranks, options, file);
  EXPECT_TRUE(opened.ok()) << opened.message();
  if (file == nullptr) return;
  unsigned salt = 0;
  for (const Pattern pattern : kPatterns) {
    const std::vector<Run> runs = runs_of(pattern, ranks.rank());
    for (int again = 0; again < 2; ++again) {
      const std::vector<std::byte> bytes = bytes_of(runs, ++salt);
      RunListCursor cursor(runs);
      MemorySource source(bytes.data());
      const Put put{&cursor, &source};
      const Status written = file->write_all({&put, 1});
      EXPECT_TRUE(written.ok()) << written.message();
    }
    const Status flushed = file->flush();
    EXPECT_TRUE(flushed.ok()) << flushed.message();
    // What another rank has put.
    std::vector<Run> theirs = runs_of(pattern, (ranks.rank() + 5) % kRanks);
    const std::vector<std::byte> wanted = bytes_of(theirs, salt);
    std::vector<std::byte> got(wanted.size());
    RunListCursor cursor(theirs);
    MemorySink sink(got.data());
    const Get get{&cursor, &sink};
    const Status read = file->read_all({&get, 1});
    EXPECT_TRUE(read.ok()) << read.message();
    EXPECT_TRUE(got == wanted) << "pattern " << static_cast<int>(pattern) << ", rank " << ranks.rank();
  }
  counters[me] = file->counters();
  const Status closed = file->close();
  EXPECT_TRUE(closed.ok()) << closed.message();
}

/// The file's bytes.
std::string run_all(const Case& c, const std::string& hints) {
  SCOPED_TRACE(c.owners + ", " + hints);
  const std::string path = "owner_nodes_threads." + std::to_string(::getpid()) + ".dat";
  std::vector<Counters> counters(kRanks);
  run_as_ranks(kRanks, kRanksPerNode,
               [&](const Communicator& ranks) { run_rank(ranks, c, hints, path, counters); });
  std::vector<std::int64_t> writers;
  for (int rank = 0; rank < kRanks; ++rank) {
    const Counters& count = counters[static_cast<std::size_t>(rank)];
    if (count.writes > 0) writers.push_back(rank / kRanksPerNode);
    if (c.owns(rank / kRanksPerNode)) continue;
    EXPECT_EQ(count.writes, 0) << "by rank " << rank;
    EXPECT_EQ(count.reads, 0) << "by rank " << rank;
    EXPECT_EQ(count.aggregator, 0) << "rank " << rank;
  }
  writers.erase(std::unique(writers.begin(), writers.end()), writers.end());
  EXPECT_THAT(writers, testing::ElementsAreArray(c.nodes)) << "each node that owns has something to write";
  const bool tells =
      text_at(path + ".json").find("\"owner_nodes\": \"" + c.reported + "\"") != std::string::npos;
  EXPECT_TRUE(tells) << "the report";
  std::string bytes = text_at(path);
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".json");
  return bytes;
}

TEST(OwnerNodes, OthersNeverTouchTheFile) {
  for (const char* const mode : {"strict", "commit"}) {
    for (const char* const rounds : {"automatic", "window", "wide"}) {
      const std::string hints = std::string("forebay_mode=") + mode + ";forebay_rounds=" + rounds +
                                (*rounds == 'a' ? ";forebay_window_bytes=8192" : "");
      const std::string plain = run_all(some("all", {0, 1, 2, 3}, "all"), hints);
      ASSERT_FALSE(plain.empty());
      for (const Case& c : {some("1", {0}, "0-0"), some("2", {0, 2}, "0,2"), some("3-3", {3}, "3-3"),
                            some("1-2,77", {1, 2}, "1-2"), some("0-9", {0, 1, 2, 3}, "all")})
        EXPECT_EQ(run_all(c, hints) == plain, true) << c.owners << ", " << hints;
    }
  }
}

TEST(OwnerNodes, RankZeroSaysWhichAndAllRanksHearIt) {
  const std::string plain = run_all(some("all", {0, 1, 2, 3}, "all"), "forebay_mode=strict");
  for (const char* const others : {"all", "3", "2-2", "0-0,2", "0,2-3,5"}) {
    for (const Case& c : {Case{"1-1,3", others, {1, 3}, "1,3"}, Case{"all", others, {0, 1, 2, 3}, "all"},
                          Case{"2", others, {0, 2}, "0,2"}})
      EXPECT_EQ(run_all(c, "forebay_mode=strict") == plain, true) << c.owners << ", others " << others;
  }
}

TEST(OwnerNodes, AllOwnWhereNoneIsLeft) {
  testing::internal::CaptureStderr();
  run_all(some("4-20", {0, 1, 2, 3}, "all"), "forebay_mode=strict");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("forebay_owner_nodes=4-20 is left out: the last node is number 3"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

// As many aggregators as cb_nodes asks for, on the nodes that own.
TEST(OwnerNodes, HaveAllAggregators) {
  const std::string path = "owner_nodes_threads." + std::to_string(::getpid()) + ".dat";
  std::vector<Counters> counters(kRanks);
  run_as_ranks(kRanks, kRanksPerNode, [&](const Communicator& ranks) {
    run_rank(ranks, some("2", {0, 2}, "0,2"), "forebay_mode=strict;cb_nodes=6", path, counters);
  });
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(counters[static_cast<std::size_t>(rank)].aggregator, rank / kRanksPerNode % 2 == 0) << rank;
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".json");
}

}  // namespace
}  // namespace forebay::test
