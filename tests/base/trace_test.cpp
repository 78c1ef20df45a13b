// The ring of events, clocks of several nodes, and the file of a timeline: its format, several files and
// writers, odd names, and what is not ours.
#include "base/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "../tools/trace_events.hpp"
#include "base/counters.hpp"
#include "report/trace_file.hpp"

namespace forebay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class InFolder : public testing::Test {
 protected:
  InFolder() {
    std::string name = std::filesystem::temp_directory_path() / "forebay-trace-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~InFolder() override { std::filesystem::remove_all(folder_); }
  std::string operator/(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};
using Timeline = InFolder;

TEST(Ring, KeepsTheNewest) {
  Trace trace;
  constexpr std::int64_t more = 1000;
  const auto all = static_cast<std::int64_t>(Trace::most) + more;
  for (std::int64_t i = 0; i < all; ++i) trace.add(Span::write, i, i + 1);
  EXPECT_EQ(trace.size(), Trace::most);
  EXPECT_EQ(trace.dropped(), more);
  for (std::size_t i = 0; i < trace.size(); ++i)
    ASSERT_EQ(trace[i].begin, static_cast<std::int64_t>(i) + more);
}

TEST(Ring, AllOfAProcessShareItsMemory) {
  auto first = std::make_unique<Trace>();
  for (std::size_t i = 0; i < Trace::most - Trace::chunk; ++i) first->add(Span::write, 0, 1);
  Trace second, third;
  for (std::size_t i = 0; i < 2 * Trace::chunk; ++i) second.add(Span::write, static_cast<std::int64_t>(i), 1);
  EXPECT_EQ(second.size(), Trace::chunk);
  EXPECT_EQ(second[0].begin, static_cast<std::int64_t>(Trace::chunk));
  third.add(Span::write, 0, 1);
  EXPECT_EQ(third.size(), 0U) << "there is nothing left, and it is told";
  EXPECT_EQ(third.dropped(), 1);
  first.reset();
  Trace fourth;
  fourth.add(Span::write, 0, 1);
  EXPECT_EQ(fourth.size(), 1U);
}

TEST(Ring, ThreadsAreNumbered) {
  Trace trace;
  trace.add(Span::write, 0, 1);
  std::thread([&] { trace.add(Span::write, 0, 1); }).join();
  EXPECT_NE(trace[0].thread, trace[1].thread);
}

TEST(Stages, AreEventsWithWhatTheyMoved) {
  Trace trace;
  Counters counters;
  counters.count_write(0, 7, 1);
  {
    const StageTimer off(counters, Stage::write);
  }
  counters.trace = &trace;
  {
    const TraceSpan round(counters, Span::round, 3);
    const StageTimer write(counters, Stage::write);
    counters.count_write(0, 100, 1);
    counters.count_write(0, 20, 1);
    const StageTimer wait(counters, Stage::node_wait);
  }
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace[0].span, Span::node_wait);
  EXPECT_EQ(trace[0].count, -1);
  EXPECT_EQ(trace[1].span, Span::write);
  EXPECT_EQ(trace[1].count, 2);
  EXPECT_EQ(trace[1].bytes, 120);
  EXPECT_EQ(trace[2].span, Span::round);
  EXPECT_EQ(trace[2].count, 3);
  EXPECT_LE(trace[2].begin, trace[1].begin);
  EXPECT_GE(trace[2].begin + trace[2].length, trace[1].begin + trace[1].length);
}

/// Barriers of ranks whose clocks are ahead by `ahead` (by node), run `drift` faster, and that come late.
std::vector<TraceRank> barriers(const std::vector<double>& ahead, double drift, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> late(0, 30'000);
  std::vector<TraceRank> ranks(2 * ahead.size());
  double now = 1e9;
  for (ClockSamples TraceRank::* when : {&TraceRank::at_open, &TraceRank::at_close}) {
    for (std::size_t i = 0; i < ClockSamples::count; ++i) {
      std::vector<double> enter(ranks.size());
      double last = 0;
      for (double& time : enter) last = std::max(last, time = now + late(random));
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const std::size_t node = rank / 2;
        const auto on_its_clock = [&](double time) {
          return static_cast<std::int64_t>(time * (node == 0 ? 1 : 1 + drift) + ahead[node]);
        };
        ranks[rank].node = static_cast<std::int64_t>(node);
        ranks[rank].world_rank = static_cast<std::int64_t>(rank);
        (ranks[rank].*when).enter[i] = on_its_clock(enter[rank]);
        (ranks[rank].*when).leave[i] = on_its_clock(last + 1000 + late(random));
      }
      now += 100'000;
    }
    now += 1e9;
  }
  return ranks;
}

TEST(Clocks, AreComparedByBarriers) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const double drift : {0.0, 2e-5, -1e-4}) {
      const std::vector<double> ahead{0, 5e12, -3e6};
      const std::vector<TraceRank> ranks = barriers(ahead, drift, seed);
      const std::vector<ClockFit> fits = fit_clocks(ranks);
      ASSERT_EQ(fits.size(), 3U);
      EXPECT_EQ(fits[0].error, 0);
      EXPECT_EQ(fits[0].ahead(1e9), 0);
      for (std::size_t node = 1; node < 3; ++node) {
        EXPECT_LE(fits[node].error, 62'000);
        for (const double time : {1e9, 1.5e9, 2e9}) {
          const double its = time * (1 + drift) + ahead[node];
          EXPECT_NEAR(fits[node].ahead(its), its - time, fits[node].error + 1000 + std::abs(drift) * 1e6)
              << "seed " << seed;
        }
      }
    }
  }
}

TraceRank rank_on(std::int64_t node, const char* host, std::int64_t world) {
  TraceRank rank;
  rank.node = node;
  rank.world_rank = world;
  std::strncpy(rank.host.data(), host, rank.host.size() - 1);
  return rank;
}

void add_file(const std::string& path, const std::string& file, int events) {
  const std::vector<TraceRank> ranks{rank_on(0, "a", 0), rank_on(0, "a", 1), rank_on(1, "b", 2)};
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  TraceFile out;
  ASSERT_TRUE(out.open(path, file, ranks, wall.count() - Trace::now()).ok());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<TraceEvent> list;
    for (int i = 0; i < events; ++i) {
      TraceEvent event{Trace::now() + 100 * i, 50, 2, 10, Span::write, 0};
      event.thread = i % 2 == 0 ? 0 : 1;
      list.push_back(event);
    }
    ASSERT_TRUE(out.add(rank, list).ok());
  }
  ASSERT_TRUE(out.write().ok());
}

TEST_F(Timeline, IsTraceEventsOfAllFiles) {
  const std::string path = *this / "t.json";
  ASSERT_TRUE(start_trace(path, "./model \"x\"\n").ok());
  EXPECT_THAT(test::look_at_timeline(nlohmann::json::parse(slurp(path))).failures, IsEmpty());
  const std::string odd = "/data/\"a\"\n\x01\xff</script>.nc";
  add_file(path, "/data/a.nc", 4);
  add_file(path, odd, 30'000);  // in several parts
  ASSERT_TRUE(continue_trace(path).ok()) << "which changes nothing";
  const auto document = nlohmann::json::parse(slurp(path));
  const test::TimelineFacts facts = test::look_at_timeline(document);
  EXPECT_THAT(facts.failures, IsEmpty());
  EXPECT_EQ(facts.nodes.size(), 2U);
  EXPECT_EQ(facts.threads.size(), 6U) << "two of each rank, in both files the same";
  EXPECT_EQ(facts.spans.at("write file"), 3 * 30'004);
  EXPECT_EQ(facts.written.at("/data/a.nc"), 3 * 4 * 10);
  EXPECT_EQ(facts.about.size(), 2U);
  EXPECT_EQ(document["otherData"]["command"], "./model \"x\"\n");
  ASSERT_TRUE(start_trace(path, "next").ok());
  EXPECT_TRUE(nlohmann::json::parse(slurp(path))["traceEvents"].empty());
}

TEST_F(Timeline, ManyProcessesLoseNothing) {
  const std::string path = *this / "t.json";
  ASSERT_TRUE(start_trace(path).ok());
  for (int i = 0; i < 8; ++i) {
    if (fork() == 0) {
      add_file(path, "/data/" + std::to_string(i), 3000);
      _exit(HasFailure() ? 1 : 0);
    }
  }
  for (int i = 0; i < 8; ++i) {
    int status = 1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  const test::TimelineFacts facts = test::look_at_timeline(nlohmann::json::parse(slurp(path)));
  EXPECT_EQ(facts.about.size(), 8U);
  EXPECT_EQ(facts.spans.at("write file"), 8 * 3 * 3000);
}

TEST_F(Timeline, AFullDiskLeavesWhatWasThere) {
  const std::string path = *this / "t.json";
  ASSERT_TRUE(start_trace(path).ok());
  add_file(path, "/data/a.nc", 4);
  const auto before = static_cast<rlim_t>(std::filesystem::file_size(path));
  const pid_t child = fork();
  if (child == 0) {
    // A part of the events still goes in.
    const rlimit most{before + 20'000, before + 20'000};
    if (setrlimit(RLIMIT_FSIZE, &most) != 0 || std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) _exit(2);
    const std::vector<TraceRank> ranks{rank_on(0, "a", 0)};
    TraceFile out;
    if (!out.open(path, "/data/b.nc", ranks, 0).ok()) _exit(3);
    (void)out.add(0, std::vector<TraceEvent>(1000, TraceEvent{0, 50, 2, 10, Span::write, 0}));
    _exit(out.write().ok() ? 4 : 0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const test::TimelineFacts facts = test::look_at_timeline(nlohmann::json::parse(slurp(path)));
  EXPECT_EQ(facts.written.at("/data/a.nc"), 3 * 4 * 10);
  add_file(path, "/data/c.nc", 4);
}

TEST_F(Timeline, ALinkToWhatIsNotThereYetStays) {
  std::filesystem::create_directory(*this / "deep");
  std::filesystem::create_symlink("deep/second", *this / "first");
  std::filesystem::create_symlink("../t.json", *this / "deep/second");
  ASSERT_TRUE(start_trace(*this / "first").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(*this / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(*this / "deep/second"));
  EXPECT_TRUE(nlohmann::json::parse(slurp(*this / "t.json"))["traceEvents"].empty());
}

TEST_F(Timeline, WithoutItsEndIsBegunAnew) {
  const std::string path = *this / "t.json";
  ASSERT_TRUE(start_trace(path).ok());
  add_file(path, "/data/a.nc", 4);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 20);
  EXPECT_FALSE(continue_trace(path).ok());
  EXPECT_TRUE(start_trace(path).ok()) << "its program was killed while it wrote";
  EXPECT_TRUE(nlohmann::json::parse(slurp(path))["traceEvents"].empty());
}

TEST_F(Timeline, WhatIsNotOursIsLeftAlone) {
  for (const char* text : {"model output", "[]", "{\"traceEvents\":[]}",
                           "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"forebay\":"}) {
    const std::string path = *this / "x";
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_FALSE(start_trace(path).ok());
    EXPECT_FALSE(continue_trace(path).ok());
    TraceFile out;
    const std::vector<TraceRank> ranks(1);
    EXPECT_FALSE(out.open(path, "f", ranks, 0).ok());
    EXPECT_EQ(slurp(path), text);
  }
  EXPECT_FALSE(start_trace(folder_).ok());
  EXPECT_FALSE(start_trace(*this / "no/such").ok());
}

}  // namespace
}  // namespace forebay
