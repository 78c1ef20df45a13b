// Sums over ranks against hand-made shares, the sentences, and the JSON file: its schema, several writers,
// and what is not ours.
#include "report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "schema.hpp"

namespace forebay {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

FileFacts facts(const std::string& path = "/data/history.nc") {
  FileFacts f;
  f.path = path;
  f.driver = "pnetcdf";
  f.settings.stripe_bytes = 1 << 20;
  f.settings.stats = "/data/stats.json";
  f.stripe_bytes = 1 << 20;
  f.window_bytes = 4 << 20;
  f.link = "put";
  f.storage = "mpiio";
  f.file_system = "nfs";
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
  EXPECT_THAT(summarize(facts(), list).notes, ElementsAre(HasSubstr("Every write was independent")));
}

TEST(Notes, IndependentMostly) {
  std::vector<RankShare> list = shares(4, 4);
  EXPECT_THAT(summarize(facts(), list).notes, Not(Contains(HasSubstr("Most writes"))));
  for (RankShare& share : list) share.counters.independent_writes = share.counters.writes = 1000;
  EXPECT_THAT(summarize(facts(), list).notes,
              Contains(HasSubstr("Most writes to the file were independent")));
}

TEST(Notes, EverythingWentPast) {
  std::vector<RankShare> list = shares(4, 4);
  for (RankShare& share : list) share.counters.bypass_bytes = share.counters.bytes;
  EXPECT_THAT(summarize(facts(), list).notes,
              ElementsAre(testing::AllOf(HasSubstr("100 %"), HasSubstr("1.0 MiB (forebay_bypass_bytes)"))));
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
  const json document = json::parse(format_report(summarize(facts(), shares(8, 4))));
  EXPECT_THAT(schema.check(document), IsEmpty());
  const json& file = document["files"][0];
  EXPECT_EQ(file["average_piece_bytes"], 12);
  EXPECT_EQ(file["settings"], "forebay_stripe_bytes=1m");
  EXPECT_EQ(file["file_writes"]["unaligned"], 2);
  EXPECT_EQ(
      file["file_writes"]["sizes"],
      json::parse(R"([{"from":4096,"below":8192,"count":2},{"from":1048576,"below":2097152,"count":2}])"));
  // The validator itself sees what is wrong.
  json wrong = document;
  wrong["files"][0].erase("pieces");
  wrong["files"][0]["more"] = 1;
  wrong["files"][0]["active"] = false;
  EXPECT_EQ(schema.check(wrong).size(), 3u);
}

TEST(Report, ABarePathThatIsNotUtf8StaysReadable) {
  const json document = json::parse(format_report(summarize(facts("/data/\xff\"\n"), shares(2, 2))));
  EXPECT_EQ(document["files"][0]["path"], "/data/\xef\xbf\xbd\"\n");
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

// A program may open thousands of files: the time for a report must not grow with those that are there.
TEST(StatsFile, TheThirdReportIsAddedInPlace) {
  const Scratch dir;
  const std::string path = dir / "stats.json";
  ASSERT_TRUE(append_report(path, summarize(facts("/a"), shares(2, 2))).ok());
  struct stat first{};
  ASSERT_EQ(::stat(path.c_str(), &first), 0);
  for (const char* name : {"/b", "/c\xff", "/d"})
    ASSERT_TRUE(append_report(path, summarize(facts(name), shares(2, 2))).ok());
  struct stat last{};
  ASSERT_EQ(::stat(path.c_str(), &last), 0);
  EXPECT_EQ(first.st_ino, last.st_ino);
  const std::string text = slurp(path);
  const auto document = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(document.at("files").size(), 4u);
  EXPECT_EQ(document.at("files").at(3).at("path"), "/d");
  EXPECT_EQ(document.dump(2) + "\n", text);
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
       {"model output", "[]", "{}", "{\"schema\": 2, \"files\": []}", "{\"schema\": 1, \"files\": 3}",
        "{\"schema\": \"x\", \"files\": []}", "{\"schema\": 1, \"files\": [{\"path\""}) {
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
