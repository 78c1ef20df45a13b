// The rounds of a collective read, with threads for ranks: everybody gets what he asked for, on one node and
// on several, by whole rounds and by marks, also where a rank asks for more than it can keep or an owner
// cannot read.
#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "engine/fetch.hpp"
#include "request/memory_stream.hpp"
#include "run_list_cursor.hpp"
#include "thread_tools.hpp"

namespace forebay {
namespace {

using namespace test;

class SlowSink final : public Sink {
 public:
  SlowSink(std::byte* memory, unsigned seed, int delay) : below_(memory), random_(seed), delay_(delay) {}
  void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) override {
    dawdle(random_, delay_);
    below_.consume(runs, window, origin);
  }

 private:
  MemorySink below_;
  std::mt19937 random_;
  int delay_;
};

class FailingStorage final : public Storage {
 public:
  Status write(std::span<const Piece>) override { return {Code::io, "not here"}; }
  Status read(std::int64_t, std::byte*, std::int64_t) override { return {Code::io, "injected"}; }
};

struct Case {
  int nodes;
  int ranks;  // a node
  int aggregators;
  std::int64_t stripe;
  std::int64_t round;
  int delay;
  bool whole;
  int percent = 60;  // of the elements that a rank asks for
  int fail_node = -1;
  std::int64_t block = 0;
  std::vector<int> owning{};  // nodes; empty: all
  bool by_turns = false;      // another one over a second window, a step of each at a time
};

void run_case(const Case& c, unsigned seed) {
  constexpr std::int64_t kElements = 40000;
  constexpr std::int64_t kWidth = 4;
  constexpr std::int64_t kBegin = 1004;
  constexpr int kReads = 3;
  const int total = c.nodes * c.ranks;
  const FileDomains domains({c.stripe}, c.round, {c.nodes, c.aggregators, c.owning}, c.block);
  std::vector<std::byte> file(kBegin + kElements * kWidth + 4096);
  std::mt19937 random(seed);
  for (auto& byte : file) byte = static_cast<std::byte>(random());

  std::vector<std::vector<std::vector<Run>>> runs(
      kReads, std::vector<std::vector<Run>>(static_cast<std::size_t>(total)));
  std::vector<Extent> hulls(kReads, Extent{kNoOffset, 0});
  for (std::size_t read = 0; read < kReads; ++read) {
    // In the second one there are rounds of which nobody wants anything.
    const std::int64_t hole = read == 1 ? c.round * 3 : 0;
    for (std::size_t who = 0; who < static_cast<std::size_t>(total); ++who) {
      std::int64_t stream = 0;
      for (std::int64_t e = 0; e < kElements; ++e) {
        const std::int64_t at = kBegin + e * kWidth;
        if (static_cast<int>(random() % 100) >= c.percent || (at >= c.round * 2 && at < c.round * 2 + hole))
          continue;
        runs[read][who].push_back({at, stream, kWidth});
        stream += kWidth;
        hulls[read].begin = std::min(hulls[read].begin, at);
        hulls[read].end = std::max(hulls[read].end, at + kWidth);
      }
    }
  }

  const std::size_t windows = c.by_turns ? 2 : 1;
  std::vector<NodeMemories> memory;
  std::vector<std::vector<std::unique_ptr<ThreadRail::Shared>>> rails(windows);
  for (auto& of_window : rails) {
    memory.emplace_back(c.nodes, NodeWindow::bytes_needed(c.ranks, c.round));
    for (int a = 0; a < c.aggregators; ++a)
      of_window.push_back(std::make_unique<ThreadRail::Shared>(c.nodes));
  }
  std::barrier agreement(total);  // stands for the reductions before and after

  std::vector<std::thread> threads;
  std::vector<Status> outcome(static_cast<std::size_t>(total));
  std::vector<int> wrong(static_cast<std::size_t>(total), 0);
  for (int t = 0; t < total; ++t) {
    threads.emplace_back([&, t] {
      const auto me = static_cast<std::size_t>(t);
      const int node = t / c.ranks;
      const int local = t % c.ranks;
      MemoryStorage good(file, seed + static_cast<unsigned>(t), c.delay);
      FailingStorage bad;
      Counters counters;
      const bool fails = node == c.fail_node && local == 0;
      struct Side {
        std::unique_ptr<NodeWindow> window;
        std::unique_ptr<ThreadRail> rail;
        FlushScratch scratch;
        std::uint64_t sequence = 0;
        std::vector<std::byte> got;
        std::unique_ptr<RunListCursor> cursor;
        std::unique_ptr<SlowSink> sink;
        std::unique_ptr<FetchRun> run;
      };
      std::vector<Side> sides(windows);
      for (std::size_t i = 0; i < windows; ++i) {
        sides[i].window = std::make_unique<NodeWindow>(memory[i].of(node), c.ranks, local, c.round);
        if (local < c.aggregators && c.nodes > 1)
          sides[i].rail = std::make_unique<ThreadRail>(*rails[i][static_cast<std::size_t>(local)], node);
      }
      for (std::size_t read = 0; read < kReads; ++read) {
        const std::vector<Run>& mine = runs[read][me];
        agreement.arrive_and_wait();
        for (Side& side : sides) {
          side.got.assign(mine.empty() ? 0 : static_cast<std::size_t>(mine.back().stream + kWidth),
                          std::byte{0});
          side.cursor = std::make_unique<RunListCursor>(mine);
          side.sink =
              std::make_unique<SlowSink>(side.got.data(), seed * 31 + static_cast<unsigned>(t), c.delay);
          const Get get{side.cursor.get(), side.sink.get()};
          Flush flush{*side.window, domains,      fails ? static_cast<Storage&>(bad) : good,
                      counters,     side.scratch, side.sequence};
          if (local < c.aggregators) flush.aggregator = local;
          flush.rail = side.rail.get();
          flush.node = node;
          flush.nodes = c.nodes;
          side.run = std::make_unique<FetchRun>(flush, std::span(&get, 1), 64);
          // By turns, the second one goes by marks.
          if (c.whole && &side == sides.data()) {
            side.run->begin_whole(hulls[read]);
          } else {
            side.run->begin(hulls[read], 2);
          }
        }
        for (bool more = true; more;) {
          more = false;
          for (Side& side : sides) {
            if (side.run == nullptr) continue;
            if (side.run->step()) {
              more = true;
            } else {
              outcome[me].update(side.run->status());
              side.run.reset();
            }
          }
        }
        agreement.arrive_and_wait();
        for (const Side& side : sides) {
          for (const Run& r : mine) {
            if (std::memcmp(side.got.data() + r.stream, file.data() + r.file, kWidth) != 0) ++wrong[me];
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int failed = 0;
  for (std::size_t t = 0; t < outcome.size(); ++t) {
    failed += outcome[t].ok() ? 0 : 1;
    if (c.fail_node < 0) {
      EXPECT_EQ(wrong[t], 0) << "rank " << t << ", seed " << seed;
    }
  }
  EXPECT_EQ(failed, c.fail_node < 0 ? 0 : 1);  // the caller tells the others
}

TEST(FetchThreads, WholeRoundsOnOneNode) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    run_case({1, 4, 2, 4096, 16384, 0, true}, seed);
    run_case({1, 3, 3, 8192, 8192, 300, true}, seed);
    run_case({1, 1, 1, 65536, 16384, 0, true}, seed);
    run_case({1, 4, 3, 4100, 12300 / 4096 * 4096, 200, true}, seed);
  }
}

TEST(FetchThreads, MarkedPartsOnOneNode) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    run_case({1, 4, 2, 4096, 16384, 0, false}, seed);
    run_case({1, 3, 3, 8192, 8192, 300, false, 1}, seed);
    run_case({1, 4, 3, 5000, 20480, 200, false, 5}, seed);
  }
}

TEST(FetchThreads, BetweenNodes) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    run_case({2, 2, 1, 4096, 16384, 0, false}, seed);
    run_case({3, 2, 2, 8192, 49152, 300, false, 10}, seed);
    run_case({2, 3, 2, 65536, 16384, 200, false, 1}, seed);
  }
}

TEST(FetchThreads, ManyRanksMergeTogether) {
  run_case({1, 18, 2, 4096, 16384, 50, false, 5}, 1);
  run_case({2, 16, 2, 8192, 32768, 50, false, 1}, 2);
}

TEST(FetchThreads, TwoWindowsStepByStep) {
  run_case({1, 4, 2, 4096, 16384, 100, true, 60, -1, 0, {}, true}, 1);
  run_case({1, 3, 2, 4096, 16384, 100, false, 5, -1, 0, {}, true}, 2);
  run_case({2, 2, 2, 4096, 16384, 50, false, 30, -1, 0, {}, true}, 3);
}

TEST(FetchThreads, ContiguousDomainsOfSomeNodes) {
  run_case({1, 3, 2, 4096, 16384, 50, true, 60, -1, 32768}, 1);
  run_case({3, 2, 2, 4096, 16384, 50, false, 30, -1, 8192, {2, 1}}, 2);
}

TEST(FetchThreads, AnOwnerThatCannotReadHangsNobody) {
  run_case({1, 3, 2, 4096, 16384, 100, true, 60, 0}, 1);
  run_case({1, 3, 2, 4096, 16384, 100, false, 60, 0}, 2);
  run_case({2, 2, 1, 4096, 16384, 100, false, 60, 1}, 3);
}

}  // namespace
}  // namespace forebay
