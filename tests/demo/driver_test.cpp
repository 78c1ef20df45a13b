// The driver's parts: running programs, weighing them, the scratch folder, and what is made of the numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "memory_watch.hpp"
#include "process.hpp"
#include "results.hpp"
#include "scratch.hpp"

namespace forebay::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

Command shell(const std::string& line) {
  return {{"/bin/sh", "-c", line}, {}};
}

TEST(Process, KeepsStatusAndOutput) {
  const Outcome outcome = run_command(shell("echo out; echo err >&2; exit 3"), 10s);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.output, HasSubstr("out"));
  EXPECT_THAT(outcome.output, HasSubstr("err"));
  EXPECT_EQ(run_command(shell("kill -9 $$"), 10s).status, 128 + 9);
  EXPECT_EQ(run_command({{"/nowhere/program"}, {}}, 10s).status, 127);
  EXPECT_THAT(run_command({{"/nowhere/program"}, {}}, 10s).output, HasSubstr("cannot run /nowhere/program"));
}

TEST(Process, KeepsTheEndOfLongOutput) {
  const Outcome outcome =
      run_command(shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"), 60s);
  EXPECT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome.output.ends_with("line 19999\n"));
  EXPECT_LT(outcome.output.size(), 20000u);
}

TEST(Process, SetsTheEnvironment) {
  ::setenv("FOREBAY_TEST_GONE", "here", 1);
  Command command = shell("echo [$FOREBAY_TEST_SET][$FOREBAY_TEST_GONE]");
  command.environment = {{"FOREBAY_TEST_SET", "yes"}, {"FOREBAY_TEST_GONE", std::nullopt}};
  EXPECT_EQ(run_command(command, 10s).output, "[yes][]\n");
}

TEST(Process, StopsWhatHangsWithItsChildren) {
  const std::string mark = ::testing::TempDir() + "hanging." + std::to_string(::getpid());
  const Outcome outcome = run_command(shell("sleep 300 & echo $! >" + mark + "; wait"), 300ms);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_FALSE(outcome.ok());
  EXPECT_LT(outcome.seconds, 30);
  int child = 0;
  std::ifstream(mark) >> child;
  ASSERT_GT(child, 0);
  // Gone, or waiting to be reaped by whoever adopted it.
  std::string state;
  for (int tries = 0; tries < 100; ++tries) {
    state.clear();
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    std::string word;
    status >> word >> word >> state;
    if (state.empty() || state == "Z") break;
    ::usleep(20000);
  }
  EXPECT_TRUE(state.empty() || state == "Z") << state;
}

TEST(Process, ALauncherIsReadAsTheShellReadsIt) {
  Command command{through_shell("env 'A=one word' sh -c"), {}};
  command.words.push_back("echo \"$A\"");
  EXPECT_EQ(run_command(command, 10s).output, "one word\n");
}

TEST(MemoryWatch, SeesAPeak) {
  ASSERT_TRUE(pss(::getpid()));
  EXPECT_GT(*pss(::getpid()), 100000);
  EXPECT_FALSE(pss(std::numeric_limits<int>::max()));

  const fs::path folder = ::testing::TempDir() + "watched." + std::to_string(::getpid());
  fs::create_directory(folder);
  std::string machine;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> machine;
  MemoryWatch watch(folder, 2);
  std::ofstream(folder / "rank.0") << ::getpid() << ' ' << machine << '\n';
  watch.sample();
  EXPECT_FALSE(watch.began());  // one rank is missing
  EXPECT_FALSE(fs::exists(folder / "go"));
  std::ofstream(folder / "rank.1") << ::getpid() << " elsewhere\n";
  watch.sample();
  EXPECT_TRUE(watch.began());
  EXPECT_TRUE(fs::exists(folder / "go"));
  EXPECT_EQ(watch.ranks_seen(), 1);
  const std::int64_t before = watch.peak();
  {
    const std::vector<char> block(32 << 20, 'x');
    ASSERT_EQ(block.back(), 'x');
    ::usleep(200000);
    watch.sample();
  }
  EXPECT_GT(watch.peak(), before + (30 << 20));
  const std::int64_t peak = watch.peak();
  ::usleep(200000);
  watch.sample();
  EXPECT_EQ(watch.peak(), peak);
  fs::remove_all(folder);
}

TEST(Scratch, ComesAndGoes) {
  fs::path made;
  {
    const Scratch scratch("forebay-test", ::testing::TempDir(), 1, false);
    made = scratch.path();
    std::ofstream(scratch.file("a")) << "a";
    std::ofstream(fs::path(scratch.folder("b")) / "c") << "c";
    EXPECT_TRUE(fs::exists(made / "b" / "c"));
    scratch.remove("a");
    EXPECT_FALSE(fs::exists(made / "a"));
  }
  EXPECT_FALSE(fs::exists(made));
}

TEST(Scratch, SaysWhyItCannotBe) {
  const auto message = [](const std::string& folder, std::int64_t bytes) -> std::string {
    try {
      const Scratch scratch("forebay-test", folder, bytes, false);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message("/nowhere/at/all", 1), HasSubstr("/nowhere/at/all is not a folder"));
  EXPECT_THAT(message(::testing::TempDir(), std::int64_t{1} << 60), HasSubstr("MiB are needed"));
  EXPECT_THAT(message("/proc", 1), HasSubstr("/proc"));
}

DemoResults sample_results() {
  DemoResults results;
  results.records = 1;
  const auto add = [&](const char* row, const char* title, const char* peer, std::vector<double> seconds) {
    auto& rows = results.measured.rows;
    if (rows.empty() || rows.back().name != row) rows.push_back({row, title, 1000000000, 10, {}, {1}});
    const bool own = std::string(peer) == "forebay";
    Peer made =
        own ? forebay_peer(peer, "") : stock_peer(peer, std::string("stock, ") + peer, peer, {}, true);
    Cell cell{made, {}};
    for (const double s : seconds) cell.samples.push_back({9, s, 0.25, 0});
    rows.back().cells.push_back(cell);
  };
  add("pnetcdf", "P", "romio", {30, 20, 10});
  add("pnetcdf", "P", "ompio", {40, 50, 60});
  add("pnetcdf", "P", "forebay", {4, 2, 1});
  add("hdf5", "H", "romio", {30});
  add("hdf5", "H", "ompio", {24});
  add("hdf5", "H", "forebay", {2});
  add("hdf5-multi", "M", "romio", {9});
  add("hdf5-multi", "M", "forebay", {2});
  return results;
}

TEST(Results, SpeedupIsTheFastestStockOverForebayInTheWorstForm) {
  DemoResults results = sample_results();
  EXPECT_DOUBLE_EQ(results.speedup("pnetcdf"), 10);
  EXPECT_DOUBLE_EQ(results.speedup("hdf5"), 4.5);
  EXPECT_EQ(closing_lines(results), "pnetcdf identical yes speedup 10.0\nhdf5 identical yes speedup 4.5\n");
  results.measured.rows[2].cells[1].differs = true;
  EXPECT_EQ(closing_lines(results), "pnetcdf identical yes speedup 10.0\nhdf5 identical no speedup 4.5\n");
}

TEST(Results, ARatioWithinTheScatterIsSaidToBe) {
  DemoResults results = sample_results();
  Cell null = results.measured.rows[1].cells[2];
  null.peer.name = "forebay-null";
  null.samples[0].data = 4;  // twice what moving the data takes
  results.measured.rows[1].cells.push_back(null);
  EXPECT_THAT(table(results), HasSubstr("0.50 times what the path alone takes (impossible"));
  EXPECT_THAT(table(results), Not(HasSubstr("within the scatter")));  // 10 times, repeats of 4
  results.measured.rows[0].cells[2].samples[2].data = 0.25;           // of 16
  EXPECT_THAT(table(results),
              HasSubstr("10.0 times as fast as the fastest stock (within the scatter: repeats "
                        "differ by 16.0 times)"));
}

TEST(Results, TheDocumentHoldsWhatTheTableShows) {
  DemoResults results = sample_results();
  results.measured.rows[0].cells[2].report = {
      {"pieces", 700},
      {"nodes", 2},
      {"after_node_coalescing", {{"runs", 30}}},
      {"between_nodes", {{"messages", 4}, {"one_sided_puts", 3}, {"bytes", 2500000}}},
      {"file_writes", {{"count", 9}}}};
  const nlohmann::json document = to_json(results);
  EXPECT_EQ(document["ways"].size(), 8u);
  EXPECT_EQ(document["results"]["hdf5"]["speedup"], 4.5);
  EXPECT_EQ(document["results"]["pnetcdf"]["identical"], true);
  EXPECT_EQ(document["ways"][2]["stack"], "forebay");
  EXPECT_EQ(document["ways"][2]["median_total_s"], 2.0);
  EXPECT_EQ(document["ways"][2]["gb_per_s"], 0.5);
  EXPECT_EQ(document["ways"][2]["report"]["nodes"], 2);
  const std::string shown = table(results);
  EXPECT_THAT(
      shown, HasSubstr("700 pieces came out of 2 nodes as 30 runs; between nodes 4 messages, 3 of them puts, "
                       "2.5 MB; 9 writes to the file"));
  EXPECT_THAT(shown, HasSubstr("stock, ompio"));
  // Repeats of the sample's first way differ by three times.
  EXPECT_THAT(shown, HasSubstr("the repeats of pnetcdf, stock, romio differ by 3.0 times"));
  for (Cell& cell : results.measured.rows[0].cells) cell.samples.resize(1);
  EXPECT_THAT(table(results), Not(HasSubstr("was not idle")));
  EXPECT_THAT(shown, HasSubstr("10.0 times as fast as the fastest stock"));
}

}  // namespace
}  // namespace forebay::bench
