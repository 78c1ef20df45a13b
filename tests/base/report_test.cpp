// Sums over ranks against hand-made shares, the sentences, and the JSON file: its schema, several writers,
// and what is not ours.
#include "report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "schema.hpp"

namespace forebay {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void spit(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "forebay-report-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

/// A document with nothing but this report.
std::string text_of(const FileReport& report) {
  const Scratch dir;
  EXPECT_TRUE(append_report(dir / "stats.json", report).ok());
  return slurp(dir / "stats.json");
}

FileFacts facts(const std::string& path = "/data/history.nc") {
  FileFacts f;
  f.path = path;
  f.driver = "pnetcdf";
  f.settings.mode = Mode::strict;
  f.settings.stripe_bytes = 1 << 20;
  f.settings.stats = "/data/stats.json";
  f.stripe_bytes = 1 << 20;
  f.window_bytes = 4 << 20;
  f.owner_nodes = "0-3";
  f.link = "put";
  f.link_rate = 500000000;
  f.node = {2, 4, 4, "network cards"};
  f.storage = "mpiio";
  f.file_system = "nfs";
  f.stripe_source = "hint";
  f.storage_targets = 8;
  f.thread_level = "single";
  return f;
}

/// `ranks` ranks, `per_node` of them on a node, each with small pieces in collective writes.
std::vector<RankShare> shares(int ranks, int per_node) {
  std::vector<RankShare> list(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    RankShare& share = list[static_cast<std::size_t>(rank)];
    share.node = rank / per_node;
    share.peak_bytes = 1000 * (rank + 1);
    Counters& c = share.counters;
    c.requests = 2;
    c.pieces = 100;
    c.bytes = 1200;
    c.collective_flushes = 3;
    c.rounds = 5;
    c.seconds[static_cast<std::size_t>(Stage::scatter)] = rank;
    if (rank % per_node == 0) {
      c.aggregator = 1;
      c.node_runs = 4;
      c.node_bytes = 1200 * per_node;
      c.window_bytes = 1 << 20;
      c.count_write(0, 1 << 20, 1 << 20);
      c.count_write(100, 5000, 1 << 20);
    }
  }
  return list;
}

TEST(Summary, AddsUpRanks) {
  const FileReport report = summarize(facts(), shares(8, 4));
  EXPECT_EQ(report.ranks, 8);
  EXPECT_EQ(report.nodes, 2);
  EXPECT_EQ(report.least_ranks_per_node, 4);
  EXPECT_EQ(report.most_ranks_per_node, 4);
  EXPECT_THAT(report.aggregators, ElementsAre(0, 4));
  EXPECT_EQ(report.total.requests, 16);
  EXPECT_EQ(report.total.pieces, 800);
  EXPECT_EQ(report.total.bytes, 9600);
  EXPECT_EQ(report.total.collective_flushes, 3) << "all ranks count the same flushes";
  EXPECT_EQ(report.total.rounds, 5);
  EXPECT_EQ(report.total.writes, 4);
  EXPECT_EQ(report.total.aligned_writes, 2);
  EXPECT_EQ(report.total.write_sizes[20], 2);
  EXPECT_EQ(report.total.write_sizes[12], 2);
  EXPECT_EQ(report.total.window_bytes, 2 << 20);
  EXPECT_EQ(report.peak_sum_bytes, 36000);
  EXPECT_EQ(report.peak_max_bytes, 8000);
  const auto scatter = static_cast<std::size_t>(Stage::scatter);
  EXPECT_DOUBLE_EQ(report.seconds[scatter].max, 7);
  EXPECT_DOUBLE_EQ(report.seconds[scatter].mean, 3.5);
  EXPECT_THAT(report.notes, IsEmpty()) << "small collective pieces of several ranks a node are the main job";
}

TEST(Summary, NodesMayDifferInRanks) {
  std::vector<RankShare> list = shares(5, 4);
  const FileReport report = summarize(facts(), list);
  EXPECT_EQ(report.least_ranks_per_node, 1);
  EXPECT_EQ(report.most_ranks_per_node, 4);
}

TEST(Summary, TimeByRankIsInGroups) {
  std::vector<RankShare> list = shares(70, 7);
  for (RankShare& share : list) share.counters.seconds[static_cast<std::size_t>(Stage::write)] = 0.5;
  FileReport report = summarize(facts(), list);
  EXPECT_EQ(report.ranks_a_group, 3);
  ASSERT_EQ(report.by_rank.size(), 24U) << "the last group is one rank";
  EXPECT_DOUBLE_EQ(report.by_rank[0].all, 2.5);
  EXPECT_DOUBLE_EQ(report.by_rank[23].all, 69.5);
  EXPECT_DOUBLE_EQ(report.by_rank[23].file, 0.5);
  fold(report, summarize(facts(), list));
  EXPECT_DOUBLE_EQ(report.by_rank[23].all, 139);
  fold(report, summarize(facts(), shares(2, 1)));
  ASSERT_EQ(report.by_rank.size(), 2U) << "other ranks than before";
  EXPECT_DOUBLE_EQ(report.by_rank[1].all, 1);
  fold(report, left_to_stock("/data/history.nc", "pnetcdf", "why", 2, 0, 0));
  EXPECT_EQ(report.by_rank.size(), 2U);
}

TEST(StageTimers, ASecondCountsOnce) {
  const auto spin = [] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  Counters outer, other;
  const auto begin = std::chrono::steady_clock::now();
  {
    const StageTimer pool(outer, Stage::pool);
    spin();
    {
      const StageTimer write(outer, Stage::write);
      spin();
      const StageTimer read(other, Stage::read);  // another file's
      spin();
    }
    spin();
  }
  const auto seconds = [](const Counters& c, Stage stage) {
    return c.seconds[static_cast<std::size_t>(stage)];
  };
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(seconds(outer, Stage::pool), 0.04);
  EXPECT_GE(seconds(outer, Stage::write), 0.02);
  EXPECT_GE(seconds(other, Stage::read), 0.02);
  EXPECT_LE(seconds(outer, Stage::pool) + seconds(outer, Stage::write) + seconds(other, Stage::read),
            passed + 1e-6);
}

TEST(Notes, OneRankANode) {
  EXPECT_THAT(summarize(facts(), shares(4, 1)).notes, ElementsAre(HasSubstr("Every node has one rank")));
}

TEST(Notes, OneRankInAll) {
  EXPECT_THAT(summarize(facts(), shares(1, 1)).notes,
              ElementsAre(HasSubstr("One rank wrote this file alone")));
}

TEST(Notes, IndependentOnly) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) {
    share.counters.collective_flushes = 0;
    share.counters.independent_writes = 2;
  }
  EXPECT_THAT(summarize(facts(), list).notes, ElementsAre(AllOf(HasSubstr("Every write was independent"),
                                                                HasSubstr("forebay_keeper=start"))));
}

TEST(Notes, IndependentMostly) {
  std::vector<RankShare> list = shares(4, 4);
  EXPECT_THAT(summarize(facts(), list).notes, Not(Contains(HasSubstr("Most writes"))));
  for (RankShare& share : list) share.counters.independent_writes = share.counters.writes = 1000;
  EXPECT_THAT(summarize(facts(), list).notes,
              Contains(AllOf(HasSubstr("Most writes to the file were independent"),
                             HasSubstr("forebay_keeper=start"))));
}

TEST(Notes, ALibrarysOwnWritesAreNotTheProgramsToMakeCollective) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) {
    share.counters.metadata_writes = share.counters.writes = 500;
    share.counters.metadata_bytes = 50000;
  }
  EXPECT_THAT(summarize(facts(), list).notes,
              ElementsAre("2000 of 2000 writes are HDF5's metadata, 100 bytes on average; "
                          "forebay_metadata=collective writes it together."));
}

TEST(Notes, TinyWritesAreAsManyAsTheyAreAndHaveARemedy) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) {
    Counters& c = share.counters;
    c.requests = c.pooled_requests = c.pieces = c.writes = 983040;
    c.bytes = c.written_bytes = 4 * c.writes;
  }
  FileFacts commit = facts();
  commit.settings.mode = Mode::commit;
  commit.fills_holes = true;
  EXPECT_THAT(summarize(commit, list).notes, Not(Contains(HasSubstr("forebay_pool_bytes"))));
  for (RankShare& share : list) share.counters.pool_peak_bytes = 4 << 20;
  EXPECT_THAT(summarize(commit, list).notes,
              ElementsAre(AllOf(HasSubstr("3.9 million writes of 4 bytes"),
                                HasSubstr("Raise forebay_pool_bytes"), HasSubstr("4.0 MiB a rank"))));
}

TEST(Notes, WhatTheStockDriverDidIsSaidWithTheReason) {
  std::vector<RankShare> list(2);
  list[0].counters.stock_puts = 500;
  list[0].counters.stock_put_bytes = 2000;
  EXPECT_THAT(summarize(facts(), list).notes,
              ElementsAre(AllOf(HasSubstr("500 puts (2.0 KiB) went by PnetCDF's own driver"),
                                HasSubstr("forebay_keeper=start"))));
  FileReport report = left_to_stock("/data/history.nc", "pnetcdf", "FOREBAY_ENABLE=off", 4, 0, 0);
  EXPECT_THAT(report.notes, ElementsAre("This file was left to PnetCDF's own driver: FOREBAY_ENABLE=off. Its "
                                        "writes are not counted here."));
  fold(report, summarize(facts(), shares(8, 4)));
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("1 of 2 opens were left to PnetCDF's own driver: FORE")));
}

TEST(Notes, CollectiveCallsThatHdf5BrokeAreSaidWithItsCause) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) {
    share.counters.independent_writes = share.counters.broken_writes = share.counters.writes = 1000;
    share.counters.written_bytes = 1000 << 20;
    share.counters.broken_causes[2] = 1000;
  }
  EXPECT_THAT(summarize(facts(), list).notes,
              ElementsAre(AllOf(HasSubstr("HDF5 made 4000 independent writes of it"),
                                HasSubstr("a data transform is set"), Not(HasSubstr("Try collective")))));
}

TEST(Notes, EverythingWentPast) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) share.counters.bypass_bytes = share.counters.bytes;
  EXPECT_THAT(
      summarize(facts(), list).notes,
      ElementsAre(AllOf(HasSubstr("100 %"), HasSubstr("long contiguous runs (forebay_bypass_bytes)"))));
}

TEST(Notes, LargePieces) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) share.counters.bytes = share.counters.pieces * (512 << 10);
  EXPECT_THAT(summarize(facts(), list).notes, ElementsAre(HasSubstr("average piece is 512.0 KiB")));
}

TEST(Notes, PartsThatCouldNotBeCompleted) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) share.counters.writes = 1000, share.counters.written_bytes = 4000;
  EXPECT_THAT(summarize(facts(), list).notes,
              ElementsAre(testing::AllOf(HasSubstr("4000 writes"), HasSubstr("(nfs)"),
                                         HasSubstr("forebay_fill_holes=enable"))));
  FileFacts f = facts();
  f.fills_holes = true;
  EXPECT_THAT(summarize(f, list).notes, IsEmpty());
  f = facts();
  f.settings.fill_holes = FillHoles::disable;
  EXPECT_THAT(summarize(f, list).notes, IsEmpty());
}

TEST(Notes, StripesThatTheFileHasNot) {
  FileFacts f = facts();
  const auto notes = [&] { return summarize(f, shares(8, 4)).notes; };
  f.settings.new_stripes = NewStripes::automatic;
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("this one lies on nfs")));
  f.file_system = "lustre";
  f.stripe_source = "lustre.lov";
  EXPECT_THAT(notes(), IsEmpty());
  f.settings.new_stripes = stripes_asked(8, 1 << 20);
  EXPECT_THAT(notes(), IsEmpty()) << "it has them";
  f.storage_targets = 4;
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("stripes of 1.0 MiB on 4 storage targets")));
  f.storage_targets = 8;
  f.stripe_bytes = 2 << 20;
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("stripes of 2.0 MiB on 8 storage targets")));
}

TEST(Notes, NothingPut) {
  std::vector<RankShare> list(4);
  EXPECT_THAT(summarize(facts(), list).notes, ElementsAre(HasSubstr("nothing to gather")));
}

TEST(Notes, DiscardedBytesAreCalledThat) {
  FileFacts f = facts();
  f.settings.storage = StorageKind::null;
  EXPECT_THAT(summarize(f, shares(4, 4)).notes, ElementsAre(HasSubstr("discarded")));
}

TEST(Report, FollowsItsSchema) {
  test::SchemaValidator schema(json::parse(slurp(FOREBAY_SCHEMA)));
  const json document = json::parse(text_of(summarize(facts(), shares(8, 4))));
  EXPECT_THAT(schema.check(document), IsEmpty());
  const json& file = document["files"][0];
  EXPECT_EQ(file["average_piece_bytes"], 12);
  EXPECT_EQ(file["link_bytes_per_second"], 500000000);
  EXPECT_EQ(file["node"],
            json::parse(R"({"domains":2,"cards":4,"aggregators":4,"aggregators_by":"network cards"})"));
  EXPECT_EQ(file["settings"], "forebay_mode=strict;forebay_stripe_bytes=1m");
  EXPECT_EQ(file["file_writes"]["unaligned"], 2);
  EXPECT_EQ(
      file["file_writes"]["sizes"],
      json::parse(R"([{"from":4096,"below":8192,"count":2},{"from":1048576,"below":2097152,"count":2}])"));
  // The validator itself sees what is wrong.
  json wrong = document;
  wrong["files"][0].erase("pieces");
  wrong["files"][0]["more"] = 1;
  wrong["files"][0]["active"] = "yes";
  EXPECT_EQ(schema.check(wrong).size(), 3u);
}

TEST(Report, ABarePathThatIsNotUtf8StaysReadable) {
  const json document = json::parse(text_of(summarize(facts("/data/\xff\"\n"), shares(2, 2))));
  EXPECT_EQ(document["files"][0]["path"], "/data/\\xff\"\n");
}

TEST(StatsFile, KeepsWhatWasThere) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  ASSERT_TRUE(append_report(path, summarize(facts("/a"), shares(2, 2))).ok());
  ASSERT_TRUE(append_report(path, summarize(facts("/b"), shares(2, 2))).ok());
  const json document = json::parse(slurp(path));
  ASSERT_EQ(document["files"].size(), 2u);
  EXPECT_EQ(document["files"][0]["path"], "/a");
  EXPECT_EQ(document["files"][1]["path"], "/b");
  EXPECT_EQ(dir.entries(), 1u) << "a temporary file was left";
}

ino_t inode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// A program may open thousands of files, or one thousands of times: the time for a report must not grow with
// those that are there.
TEST(StatsFile, ReportsAreAddedInPlace) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  ASSERT_TRUE(append_report(path, summarize(facts("/a"), shares(2, 2))).ok());
  const ino_t first = inode_of(path);
  for (const char* name : {"/b", "/c\xff", "/d", "/b", "/a", "/d"})
    ASSERT_TRUE(append_report(path, summarize(facts(name), shares(2, 2))).ok());
  EXPECT_EQ(first, inode_of(path));
  const auto document = json::parse(slurp(path));
  ASSERT_EQ(document["files"].size(), 4u);
  EXPECT_EQ(document["files"][3]["path"], "/d");
  EXPECT_EQ(document["files"][3]["opens"], 2);
  EXPECT_EQ(document["files"][2]["path"], "/c\\xff");
  test::SchemaValidator schema(json::parse(slurp(FOREBAY_SCHEMA)));
  EXPECT_THAT(schema.check(document), IsEmpty());
}

TEST(StatsFile, AFileHasOneEntryHoweverOftenItIsOpened) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  const FileReport with = summarize(facts("/a"), shares(8, 4));
  const FileReport without = summarize(facts("/a"), std::vector<RankShare>(8));
  FileFacts other = facts("/a");
  other.driver = "hdf5";
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(append_report(path, with).ok());
    ASSERT_TRUE(append_report(path, without).ok());
    if (i % 100 != 0) continue;
    ASSERT_TRUE(append_report(path, summarize(other, shares(2, 2))).ok());
  }
  const json document = json::parse(slurp(path));
  ASSERT_EQ(document["files"].size(), 2u);
  const json& file = document["files"][0];
  EXPECT_EQ(file["opens"], 600);
  EXPECT_EQ(file["bytes"], 300 * 9600);
  EXPECT_EQ(file["average_piece_bytes"], 12);
  EXPECT_EQ(file["collective_flushes"], 900);
  EXPECT_EQ(file["file_writes"]["sizes"][1]["count"], 600);
  EXPECT_EQ(file["memory"]["windows_bytes"], 2 << 20) << "the same windows each time";
  EXPECT_EQ(document["files"][1]["opens"], 3);
  const json& totals = document["totals"];
  EXPECT_EQ(totals["files"], 2);
  EXPECT_EQ(totals["opens"], 603);
  EXPECT_EQ(totals["bytes"], 300 * 9600 + 3 * 2400);
  EXPECT_EQ(totals["windows_bytes"], 2 << 20);
}

// How long a log went into the file after the close: no open of its own, and nothing else changes.
TEST(StatsFile, WhatBecameOfAFileAfterItsCloseIsAddedToIt) {
  const Scratch dir;
  std::vector<RankShare> list = shares(2, 2);
  list[0].counters.log_appends = 3;
  ASSERT_TRUE(append_report(dir / "s.json", summarize(facts(), list)).ok());
  const nlohmann::json before = nlohmann::json::parse(slurp(dir / "s.json"));
  Counters counters;
  counters.log_after_close = 1500;
  ASSERT_TRUE(append_report(dir / "s.json", after_close("/data/history.nc", "pnetcdf", counters)).ok());
  counters.log_after_close = 700;
  ASSERT_TRUE(append_report(dir / "s.json", after_close("/data/history.nc", "pnetcdf", counters)).ok());
  nlohmann::json after = nlohmann::json::parse(slurp(dir / "s.json"));
  EXPECT_EQ(after["files"][0]["log"]["after_close_microseconds"], 1500) << "the longest of all";
  after["files"][0]["log"]["after_close_microseconds"] = 0;
  EXPECT_EQ(before, after);
  // Of a file that the document does not know, as of one that was begun anew, it says nothing.
  ASSERT_TRUE(append_report(dir / "s.json", after_close("/data/other.nc", "pnetcdf", counters)).ok());
  // The same where the document has to be written anew.
  spit(dir / "t.json", before.dump());
  counters.log_after_close = 1500;
  ASSERT_TRUE(append_report(dir / "t.json", after_close("/data/history.nc", "pnetcdf", counters)).ok());
  ASSERT_TRUE(append_report(dir / "t.json", after_close("/data/other.nc", "pnetcdf", counters)).ok());
  for (const char* name : {"s.json", "t.json"}) {
    const nlohmann::json document = nlohmann::json::parse(slurp(dir / name));
    ASSERT_EQ(document["files"].size(), 1U) << name;
    EXPECT_EQ(document["files"][0]["log"]["after_close_microseconds"], 1500) << name;
    EXPECT_EQ(document["totals"], before["totals"]) << name;
  }
}

TEST(Notes, AFullLogIsSaidWithItsRemedy) {
  std::vector<RankShare> list = shares(4, 4);
  list[1].counters.log_full_waits = 2;
  list[1].counters.log_full_wait_microseconds = 250000;
  EXPECT_THAT(summarize(facts(), list).notes,
              ElementsAre(AllOf(HasSubstr("full 2 times, and ranks waited 0.250 s"),
                                HasSubstr("forebay_drain=background"))));
}

TEST(StatsFile, WhatIsFoldedIsWhatWasThere) {
  FileReport report = summarize(facts("/a"), shares(8, 4));
  report.total.broken_writes = report.total.broken_causes[8] = 7;
  report.stock_reasons = {"one \"reason\""};
  report.stock_opens = 1;
  const Scratch dir;
  ASSERT_TRUE(append_report(dir / "one.json", report).ok());
  FileReport nothing = summarize(facts("/a"), {});
  nothing.opens = 0;
  nothing.date = report.date;
  nothing.ranks = report.ranks;
  nothing.nodes = report.nodes;
  nothing.least_ranks_per_node = nothing.most_ranks_per_node = 4;
  const json before = json::parse(slurp(dir / "one.json"));
  ASSERT_TRUE(append_report(dir / "one.json", nothing).ok());
  json after = json::parse(slurp(dir / "one.json"));
  after["files"][0]["notes"] = before["files"][0]["notes"];
  EXPECT_EQ(after, before);
}

TEST(StatsFile, WhatANodeHasStaysWhereTheStockDriverOpensNext) {
  const Scratch dir;
  ASSERT_TRUE(append_report(dir / "s.json", summarize(facts("/a"), shares(8, 4))).ok());
  const json before = json::parse(slurp(dir / "s.json"))["files"][0];
  ASSERT_TRUE(append_report(dir / "s.json", left_to_stock("/a", "pnetcdf", "why", 8, 0, 0)).ok());
  const json after = json::parse(slurp(dir / "s.json"))["files"][0];
  EXPECT_EQ(after["opens"], 2);
  for (const char* key : {"node", "link_bytes_per_second"}) EXPECT_EQ(after[key], before[key]) << key;
}

TEST(StatsFile, OtherProcessesEntriesAreFoundToo) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  const auto in_a_child = [&](const char* name) {
    const pid_t child = fork();
    if (child == 0) _exit(append_report(path, summarize(facts(name), shares(1, 1))).ok() ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    return status;
  };
  ASSERT_TRUE(append_report(path, summarize(facts("/a"), shares(1, 1))).ok());
  EXPECT_EQ(in_a_child("/b"), 0);
  EXPECT_EQ(in_a_child("/a"), 0);
  ASSERT_TRUE(append_report(path, summarize(facts("/b"), shares(1, 1))).ok());
  ASSERT_TRUE(start_report(path, "next").ok());
  EXPECT_EQ(in_a_child("/c"), 0);
  ASSERT_TRUE(append_report(path, summarize(facts("/b"), shares(1, 1))).ok());
  ASSERT_TRUE(append_report(path, summarize(facts("/c"), shares(1, 1))).ok());
  const json document = json::parse(slurp(path));
  EXPECT_EQ(document["command"], "next");
  ASSERT_EQ(document["files"].size(), 2u);
  EXPECT_EQ(document["files"][0]["path"], "/c");
  EXPECT_EQ(document["files"][0]["opens"], 2);
  EXPECT_EQ(document["files"][1]["opens"], 1);
}

TEST(StatsFile, NothingInItIsACommandToATerminal) {
  const std::string text = text_of(summarize(facts("/data/\x1b[2J\x7f\xc2\x9b\xc3\xbc"), shares(1, 1)));
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << int{c};
  EXPECT_EQ(text.find('\x7f'), text.npos);
  EXPECT_EQ(text.find("\xc2\x9b"), text.npos);
  EXPECT_EQ(json::parse(text)["files"][0]["path"], "/data/\x1b[2J\x7f\xc2\x9b\xc3\xbc");
}

TEST(StatsFile, AnEmptyFileIsAStart) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  spit(path, "");
  chmod(path.c_str(), 0600);
  ASSERT_TRUE(append_report(path, summarize(facts(), shares(2, 2))).ok());
  struct stat now{};
  ASSERT_EQ(stat(path.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 0777u, 0600u) << "the file's permissions are its owner's";
}

TEST(StatsFile, WhatIsNotOursIsLeftAlone) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  for (const char* text :
       {"model output", "[]", "{}", "{\"schema\": 3, \"files\": []}", "{\"schema\": 2, \"files\": 3}",
        "{\"schema\": \"x\", \"files\": []}", "{\"schema\": 2, \"files\": [{\"path\""}) {
    spit(path, text);
    const Status status = append_report(path, summarize(facts(), shares(2, 2)));
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_THAT(status.message(), HasSubstr(path));
    EXPECT_FALSE(start_report(path).ok()) << text;
    EXPECT_EQ(slurp(path), text);
  }
}

TEST(StatsFile, SaysWhatIsWrongWithAPlace) {
  const Scratch dir;
  const FileReport report = summarize(facts(), shares(2, 2));
  EXPECT_EQ(append_report(dir / "no/stats.json", report).code(), Code::no_such_file);
  EXPECT_FALSE(append_report("/dev/null", report).ok());
  struct stat null{};
  ASSERT_EQ(stat("/dev/null", &null), 0);
  EXPECT_TRUE(S_ISCHR(null.st_mode));
  EXPECT_FALSE(append_report(dir / "", report).ok());
}

TEST(StatsFile, ALinkStaysALink) {
  const Scratch dir;
  spit(dir / "real.json", "");
  std::filesystem::create_symlink("real.json", dir / "link.json");
  ASSERT_TRUE(append_report(dir / "link.json", summarize(facts(), shares(2, 2))).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link.json"));
  EXPECT_EQ(json::parse(slurp(dir / "real.json"))["files"].size(), 1u);
}

TEST(StatsFile, AStartDropsOldReports) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  ASSERT_TRUE(append_report(path, summarize(facts(), shares(2, 2))).ok());
  ASSERT_TRUE(start_report(path).ok());
  EXPECT_EQ(json::parse(slurp(path))["files"].size(), 0u);
}

TEST(StatsFile, ManyProcessesLoseNothing) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  constexpr int writers = 6;
  constexpr int each = 10;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w) {
    const pid_t child = fork();
    if (child == 0) {
      bool ok = true;
      for (int i = 0; i < each; ++i) {
        const std::string name = std::to_string(w) + "/" + std::to_string(i);
        ok = append_report(path, summarize(facts(name), shares(1, 1))).ok() && ok;
      }
      _exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const json document = json::parse(slurp(path));
  std::set<std::string> names;
  for (const json& file : document["files"]) names.insert(file["path"].get<std::string>());
  EXPECT_EQ(names.size(), static_cast<std::size_t>(writers * each));
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(Memory, PeakIsMeasured) {
  EXPECT_GT(peak_resident_bytes(), 1 << 20);
}

}  // namespace
}  // namespace forebay
