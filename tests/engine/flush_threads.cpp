// The window protocol with threads for ranks and plain memory for the window, so that the thread sanitizer
// sees every access; delays are injected into sources and storage so that orders which only hold by luck do
// not hold here.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "engine/flush.hpp"
#include "engine/guess.hpp"
#include "request/memory_stream.hpp"
#include "run_list_cursor.hpp"
#include "thread_tools.hpp"

namespace forebay {
namespace {

using namespace test;

class SlowSource final : public Source {
 public:
  SlowSource(const std::byte* memory, unsigned seed, int delay)
      : below_(memory), random_(seed), delay_(delay) {}
  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
    dawdle(random_, delay_);
    below_.produce(runs, destination, origin);
  }

 private:
  MemorySource below_;
  std::mt19937 random_;
  int delay_;
};

struct Case {
  int nodes;
  int ranks;  // a node
  int aggregators;
  std::int64_t stripe;
  std::int64_t round;
  int delay;
  int fail_node = -1;  // aggregator 0 of that node cannot write
  std::int64_t block = 0;
  std::vector<int> owning{};  // nodes; empty: all

  FileDomains domains() const { return {{stripe}, round, {nodes, aggregators, owning}, block}; }
};

// Every rank puts the elements that a random draw gives it, in several flushes over one window; compares with
// the plain image.
void run_case(const Case& c, unsigned seed) {
  constexpr std::int64_t kElements = 30000;
  constexpr std::int64_t kWidth = 4;
  constexpr std::int64_t kBegin = 1004;
  enum class Guesses { none, right, vain };
  // The last four go to four rounds, so that nothing hides a byte of one in another.
  constexpr std::array kGuesses{Guesses::none,  Guesses::right, Guesses::vain,  Guesses::none,
                                Guesses::right, Guesses::right, Guesses::right, Guesses::right};
  constexpr int kFlushes = kGuesses.size();
  const int total = c.nodes * c.ranks;
  const FileDomains domains = c.domains();
  std::vector<std::byte> file(kBegin + kElements * kWidth + 4096, std::byte{0x11});
  std::vector<std::byte> expected = file;

  std::vector<std::vector<std::vector<Run>>> runs(
      kFlushes, std::vector<std::vector<Run>>(static_cast<std::size_t>(total)));
  // All rounds use the same memory.
  const auto base_of = [&](std::size_t flush) {
    return domains.round_begin(kBegin) + static_cast<std::int64_t>(flush % 4) * c.round;
  };
  std::vector<Extent> hulls(kFlushes, Extent{kNoOffset, 0});
  std::mt19937 random(seed);
  std::vector<std::byte> data(kFlushes * kElements * kWidth);
  for (auto& byte : data) byte = static_cast<std::byte>(random());
  for (std::size_t flush = 0; flush < kFlushes; ++flush) {
    for (std::int64_t e = 0; e < kElements; ++e) {
      const auto who =
          random() %
          static_cast<unsigned>(total + (flush == 1 ? 1 : 0));  // in one flush some elements are nobody's
      if (who == static_cast<unsigned>(total)) continue;
      if (kGuesses[flush] == Guesses::vain && e < 2000 * static_cast<std::int64_t>(who))
        continue;  // ranks that begin in different rounds
      if (kGuesses[flush] == Guesses::right && domains.round_begin(kBegin + e * kWidth) != base_of(flush))
        continue;
      const Run run{kBegin + e * kWidth, (static_cast<std::int64_t>(flush) * kElements + e) * kWidth, kWidth};
      runs[flush][who].push_back(run);
      hulls[flush].begin = std::min(hulls[flush].begin, run.file);
      hulls[flush].end = std::max(hulls[flush].end, run.file + run.length);
      std::memcpy(expected.data() + run.file, data.data() + run.stream, kWidth);
    }
  }

  const std::size_t bytes = NodeWindow::bytes_needed(c.ranks, c.round);
  const NodeMemories memory(c.nodes, bytes);
  std::vector<std::unique_ptr<ThreadRail::Shared>> rails;
  for (int a = 0; a < c.aggregators; ++a) rails.push_back(std::make_unique<ThreadRail::Shared>(c.nodes));
  std::barrier agreement(total);  // stands for the reduction at the beginning of a flush

  std::vector<std::thread> threads;
  std::vector<Status> outcome(static_cast<std::size_t>(total));
  std::vector<Counters> counters(static_cast<std::size_t>(total));
  for (int t = 0; t < total; ++t) {
    threads.emplace_back([&, t] {
      const int node = t / c.ranks;
      const int local = t % c.ranks;
      NodeWindow window(memory.of(node), c.ranks, local, c.round);
      MemoryStorage storage(file, seed + static_cast<unsigned>(t), c.delay);
      if (node == c.fail_node && local == 0) storage.fail();
      FlushScratch scratch;
      std::uint64_t sequence = 0;
      std::unique_ptr<ThreadRail> rail;
      if (local < c.aggregators && c.nodes > 1)
        rail = std::make_unique<ThreadRail>(*rails[static_cast<std::size_t>(local)], node);
      for (std::size_t flush = 0; flush < kFlushes; ++flush) {
        RunListCursor cursor(runs[flush][static_cast<std::size_t>(t)]);
        SlowSource source(data.data(), seed * 31 + static_cast<unsigned>(t), c.delay);
        const Put put{&cursor, &source};
        Flush f{window, domains, storage, counters[static_cast<std::size_t>(t)], scratch, sequence};
        f.rail = rail.get();
        f.node = node;
        f.nodes = c.nodes;
        f.aggregator = local < c.aggregators ? local : -1;
        FlushRun run(f, {&put, 1});
        // Ranks that guess differently leave each other's place in the buffer alone.
        const bool guessed = kGuesses[flush] == Guesses::right;
        if (guessed) run.guess(base_of(flush), 2, true);
        if (kGuesses[flush] == Guesses::vain && !cursor.hull().empty())
          run.guess(domains.round_begin(cursor.hull().begin), 2, true);
        agreement.arrive_and_wait();
        outcome[static_cast<std::size_t>(t)].update(guessed ? run.run_guessed(base_of(flush), hulls[flush])
                                                            : run.run(kBegin, 2));
        // Over several nodes, whoever flushes agrees afterwards. On one, the next agreement is the next
        // meeting.
        if (c.nodes > 1) agreement.arrive_and_wait();
      }
    });
  }
  for (auto& thread : threads) thread.join();

  if (c.fail_node >= 0) {
    for (int t = 0; t < total; ++t) {
      EXPECT_EQ(t / c.ranks == c.fail_node, !outcome[static_cast<std::size_t>(t)].ok())
          << "thread " << t << ", seed " << seed;
    }
    return;
  }
  for (const Status& status : outcome) EXPECT_TRUE(status.ok()) << status.message();
  std::int64_t put_bytes = 0;
  for (const Counters& count : counters) put_bytes += count.bytes;
  EXPECT_GT(put_bytes, kElements * kWidth * 2);
  for (int t = 0; t < total; ++t) {
    if (c.owning.empty() || std::ranges::count(c.owning, t / c.ranks) > 0) continue;
    EXPECT_EQ(counters[static_cast<std::size_t>(t)].writes, 0)
        << "thread " << t << " of a node that owns nothing";
    EXPECT_EQ(counters[static_cast<std::size_t>(t)].aggregator, 0) << "thread " << t;
  }
  for (std::size_t i = 0; i < file.size(); ++i) {
    ASSERT_EQ(file[i], expected[i]) << "byte " << i << ", seed " << seed;
  }
}

// Two flushes over two windows, of which each rank's one thread takes steps by turns.
void run_by_turns(const Case& c, unsigned seed) {
  constexpr std::int64_t kWidth = 4;
  constexpr std::int64_t kElements = 20000;
  const int total = c.nodes * c.ranks;
  const FileDomains domains = c.domains();

  struct Window {
    std::vector<std::byte> data, file, expected;
    std::vector<std::vector<Run>> runs;
    std::unique_ptr<NodeMemories> memory;
    std::vector<std::unique_ptr<ThreadRail::Shared>> rails;
  };
  struct Mine {
    Mine(std::vector<Run> runs, const std::byte* data, unsigned seed, int delay)
        : cursor(std::move(runs)), source(data, seed, delay) {}
    RunListCursor cursor;
    SlowSource source;
  };
  std::mt19937 random(seed);
  std::array<Window, 2> windows;
  for (Window& w : windows) {
    const std::int64_t elements = &w == windows.data() ? kElements : kElements / 3;  // not as many rounds
    w.data.resize(static_cast<std::size_t>(elements * kWidth));
    for (auto& byte : w.data) byte = static_cast<std::byte>(random());
    w.file.assign(w.data.size(), std::byte{0x11});
    w.expected = w.file;
    w.runs.resize(static_cast<std::size_t>(total));
    for (std::int64_t at = 0; at < elements * kWidth; at += kWidth) {
      const std::size_t who = random() % (static_cast<unsigned>(total) + 1);
      if (who == w.runs.size()) continue;  // nobody
      w.runs[who].push_back({at, at, kWidth});
      std::memcpy(w.expected.data() + at, w.data.data() + at, kWidth);
    }
    w.memory = std::make_unique<NodeMemories>(c.nodes, NodeWindow::bytes_needed(c.ranks, c.round));
    for (int a = 0; a < c.aggregators; ++a) w.rails.push_back(std::make_unique<ThreadRail::Shared>(c.nodes));
  }

  std::vector<std::thread> threads;
  std::vector<std::array<int, 2>> steps(static_cast<std::size_t>(total));
  for (int t = 0; t < total; ++t) {
    threads.emplace_back([&, t] {
      const int node = t / c.ranks;
      const int local = t % c.ranks;
      struct State {
        std::unique_ptr<NodeWindow> window;
        std::unique_ptr<MemoryStorage> storage;
        std::unique_ptr<ThreadRail> rail;
        FlushScratch scratch;
        Counters counters;
        std::uint64_t sequence = 0;
        std::unique_ptr<Mine> mine;
        std::unique_ptr<FlushRun> run;
      };
      std::array<State, 2> states;
      for (std::size_t i = 0; i < 2; ++i) {
        State& s = states[i];
        s.window = std::make_unique<NodeWindow>(windows[i].memory->of(node), c.ranks, local, c.round);
        s.storage =
            std::make_unique<MemoryStorage>(windows[i].file, seed + static_cast<unsigned>(t), c.delay);
        Flush f{*s.window, domains, *s.storage, s.counters, s.scratch, s.sequence};
        f.node = node;
        f.nodes = c.nodes;
        if (local < c.aggregators) {
          f.aggregator = local;
          if (c.nodes > 1)
            s.rail = std::make_unique<ThreadRail>(*windows[i].rails[static_cast<std::size_t>(local)], node);
        }
        f.rail = s.rail.get();
        s.mine = std::make_unique<Mine>(windows[i].runs[static_cast<std::size_t>(t)], windows[i].data.data(),
                                        seed + static_cast<unsigned>(t), c.delay);
        const Put put{&s.mine->cursor, &s.mine->source};
        s.run = std::make_unique<FlushRun>(f, std::span(&put, 1));
        s.run->begin(0, 2);
      }
      for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < 2; ++i) {
          State& s = states[i];
          if (s.run == nullptr) continue;
          ++steps[static_cast<std::size_t>(t)][i];
          if (s.run->step()) {
            more = true;
          } else {
            EXPECT_TRUE(s.run->status().ok()) << s.run->status().message();
            s.run.reset();
          }
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(windows[i].file == windows[i].expected) << "window " << i << ", seed " << seed;
    const auto rounds = static_cast<int>((std::ssize(windows[i].file) + c.round - 1) / c.round);
    for (const auto& count : steps) EXPECT_EQ(count[i], rounds);
  }
}

TEST(FlushThreads, TwoWindowsStepByStep) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    run_by_turns({1, 4, 2, 4096, 8192, 100}, seed);
    run_by_turns({3, 2, 1, 4096, 12288, 50}, seed);
    run_by_turns({2, 3, 2, 4096, 16384, 100}, seed);
  }
}

TEST(FlushThreads, ContiguousDomains) {
  run_case({1, 4, 2, 4096, 16384, 50, -1, 65536}, 30);
  run_case({2, 3, 2, 4096, 16384, 50, -1, 8192}, 31);
}

TEST(FlushThreads, SomeNodesOwnTheFile) {
  run_case({3, 2, 2, 4096, 16384, 50, -1, 0, {1}}, 40);
  run_case({4, 2, 1, 5000, 16384, 0, -1, 0, {3, 0}}, 41);
}

TEST(Guess, WrongOnesMakeItRarer) {
  Guess guess;
  EXPECT_FALSE(guess.knows_shift());
  int tries = 0;
  for (int flush = 0; flush < 1000; ++flush) {
    const bool made = guess.worth_it();
    tries += made ? 1 : 0;
    guess.learn(made, false, 3);
  }
  EXPECT_EQ(guess.shift(), 3);
  EXPECT_TRUE(guess.knows_shift());
  EXPECT_GT(tries, 10);
  EXPECT_LT(tries, 30);
  while (!guess.worth_it()) guess.learn(false, false, 3);
  for (int flush = 0; flush < 10; ++flush) {
    ASSERT_TRUE(guess.worth_it());
    guess.learn(true, true, 2);
  }
  guess.learn(false, false, 2);  // where no guess could be made
  EXPECT_TRUE(guess.worth_it());
}

TEST(FlushThreads, OneNode) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    for (const int ranks : {1, 2, 4, 7}) run_case({1, ranks, std::min(ranks, 2), 4096, 8192, 200}, seed);
  }
}

TEST(FlushThreads, ManyRanksMergeTogether) {
  run_case({1, 17, 2, 4096, 8192, 50}, 50);
  run_case({2, 16, 2, 4096, 16384, 50}, 51);
  run_case({1, 20, 3, 5000, 1 << 17, 0}, 52);
}

TEST(FlushThreads, StripeLargerThanTheRound) {
  run_case({1, 4, 2, 32768, 4096, 50}, 5);
}

TEST(FlushThreads, StripesThatAreNoPowerOfTwo) {
  run_case({1, 3, 3, 5000, 8192, 50}, 6);
}

TEST(FlushThreads, SeveralNodes) {
  for (unsigned seed = 10; seed <= 12; ++seed) {
    run_case({2, 4, 2, 4096, 16384, 100}, seed);
    run_case({3, 2, 1, 4096, 12288, 100}, seed);
    run_case({4, 1, 1, 4096, 16384, 0}, seed);
  }
}

TEST(FlushThreads, AFailureReachesItsWholeNodeAndNobodyHangs) {
  run_case({1, 4, 2, 4096, 8192, 0, 0}, 20);
  run_case({2, 3, 2, 4096, 16384, 0, 1}, 21);
}

}  // namespace
}  // namespace forebay
