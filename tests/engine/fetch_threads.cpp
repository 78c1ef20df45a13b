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
#include "request/memory_sink.hpp"
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
};

void run_case(const Case& c, unsigned seed) {
  constexpr std::int64_t kElements = 40000;
  constexpr std::int64_t kWidth = 4;
  constexpr std::int64_t kBegin = 1004;
  constexpr int kReads = 3;
  const int total = c.nodes * c.ranks;
  const FileDomains domains({c.stripe}, c.round, {c.nodes, c.aggregators});
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

  const NodeMemories memory(c.nodes, NodeWindow::bytes_needed(c.ranks, c.round));
  std::vector<std::unique_ptr<ThreadRail::Shared>> rails;
  for (int a = 0; a < c.aggregators; ++a) rails.push_back(std::make_unique<ThreadRail::Shared>(c.nodes));
  std::barrier agreement(total);  // stands for the reductions before and after

  std::vector<std::thread> threads;
  std::vector<Status> outcome(static_cast<std::size_t>(total));
  std::vector<int> wrong(static_cast<std::size_t>(total), 0);
  for (int t = 0; t < total; ++t) {
    threads.emplace_back([&, t] {
      const auto me = static_cast<std::size_t>(t);
      const int node = t / c.ranks;
      const int local = t % c.ranks;
      NodeWindow window(memory.of(node), c.ranks, local, c.round);
      MemoryStorage good(file, seed + static_cast<unsigned>(t), c.delay);
      FailingStorage bad;
      FlushScratch scratch;
      Counters counters;
      std::uint64_t sequence = 0;
      std::unique_ptr<ThreadRail> rail;
      const bool fails = node == c.fail_node && local == 0;
      Flush flush{window, domains, fails ? static_cast<Storage&>(bad) : good, counters, scratch, sequence};
      if (local < c.aggregators) {
        flush.aggregator = local;
        if (c.nodes > 1) rail = std::make_unique<ThreadRail>(*rails[static_cast<std::size_t>(local)], node);
      }
      flush.rail = rail.get();
      flush.node = node;
      flush.nodes = c.nodes;
      for (std::size_t read = 0; read < kReads; ++read) {
        const std::vector<Run>& mine = runs[read][me];
        std::vector<std::byte> got(mine.empty() ? 0 : static_cast<std::size_t>(mine.back().stream + kWidth));
        RunListCursor cursor(mine);
        SlowSink sink(got.data(), seed * 31 + static_cast<unsigned>(t), c.delay);
        const Get get{&cursor, &sink};
        agreement.arrive_and_wait();
        FetchRun run(flush, {&get, 1}, 64);
        const Status status = c.whole ? run.run_whole(hulls[read]) : run.run(hulls[read], 2);
        outcome[me].update(status);
        agreement.arrive_and_wait();
        for (const Run& r : mine) {
          if (std::memcmp(got.data() + r.stream, file.data() + r.file, kWidth) != 0) ++wrong[me];
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

TEST(FetchThreads, AnOwnerThatCannotReadHangsNobody) {
  run_case({1, 3, 2, 4096, 16384, 100, true, 60, 0}, 1);
  run_case({1, 3, 2, 4096, 16384, 100, false, 60, 0}, 2);
  run_case({2, 2, 1, 4096, 16384, 100, false, 60, 1}, 3);
}

}  // namespace
}  // namespace forebay
