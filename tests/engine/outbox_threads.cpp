// Wide rounds with threads for ranks and plain memory for the outbox, so that the thread sanitizer sees every
// access, with delays; what many shapes of lists, cells and slots leave is compared with the plain image.
#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "engine/outbox_fetch.hpp"
#include "engine/outbox_run.hpp"
#include "request/memory_stream.hpp"
#include "run_list_cursor.hpp"
#include "thread_tools.hpp"
#include "topology/topology.hpp"

namespace forebay {
namespace {

using namespace test;

/// What the ranks put.
enum class Spread { scattered, blocks, own_parts, far_apart, one_rank, overlapping, count };

struct Case {
  int nodes;
  int ranks;  // a node
  int aggregators;
  std::int64_t stripe;
  std::int64_t cell;
  std::int64_t slots;
  std::int64_t listed;
  int delay = 0;
  int fail_node = -1;  // its writers cannot write
  std::int64_t block = 0;
  std::vector<int> owning{};

  FileDomains domains() const { return {{stripe}, stripe, {nodes, aggregators, owning}, block}; }
  WideRounds rounds() const {
    const FileDomains d = domains();
    return {aggregators, cell, d.block_bytes(), slots, slots * d.block_bytes() * d.owners(), listed};
  }
};

constexpr std::int64_t kBytes = 150'000;
constexpr std::int64_t kFar = 3'000'000;  // some begin there

/// One rank's puts of one flush, in program order.
using Puts = std::vector<std::vector<Run>>;

/// Draws what every rank puts, of `data`, and puts it into `expected`.
std::vector<Puts> draw(std::mt19937& random, Spread spread, int total, int width,
                       const std::vector<std::byte>& data, std::vector<std::byte>& expected) {
  std::vector<Puts> puts(static_cast<std::size_t>(total));
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  const auto add = [&](int rank, std::size_t put, std::int64_t file, std::int64_t length) {
    auto& all = puts[static_cast<std::size_t>(rank)];
    if (all.size() <= put) all.resize(put + 1);
    const std::int64_t stream = below(static_cast<std::int64_t>(data.size()) - length);
    all[put].push_back({file, stream, length});
    std::memcpy(expected.data() + file, data.data() + stream, static_cast<std::size_t>(length));
  };
  if (spread == Spread::overlapping) {
    // Each has every total-th 5000 bytes for itself, and writes there again and again.
    for (std::size_t put = 0; put < 6; ++put) {
      for (std::int64_t at = 0; at + 5000 <= kBytes; at += 5000) {
        const auto rank = static_cast<int>(at / 5000 % total);
        const std::int64_t begin = below(4000 / width) * width;
        add(rank, put, at + begin, std::min<std::int64_t>(5000 - begin, (1 + below(1000)) * width));
      }
    }
    return puts;
  }
  for (std::int64_t at = 0; at < kBytes;) {
    std::int64_t length = width;
    if (spread == Spread::blocks) length = width * (1 + below(9000));
    if (spread == Spread::one_rank) length = width * (1 + below(20));
    length = std::min(length, kBytes - at);
    auto rank = static_cast<int>(below(total + 1));  // total: nobody's
    if (spread == Spread::own_parts) rank = static_cast<int>(at * total / kBytes);
    if (spread == Spread::one_rank) rank = below(3) == 0 ? total : 0;
    const std::int64_t file = spread == Spread::far_apart && at > kBytes / 2 ? at + kFar : at;
    // Later puts begin in other parts of the file than the first ones.
    if (rank < total) add(rank, static_cast<std::size_t>(at / 40'000), file, length);
    at += length;
  }
  return puts;
}

/// Runs `work` as every rank of the case, each with its part of a flush, its outbox, and what all meet at.
template <class Work>
void as_ranks(const Case& c, std::vector<std::byte>& file, unsigned seed, std::vector<Counters>& counters,
              Work&& work) {
  const int total = c.nodes * c.ranks;
  const FileDomains domains = c.domains();
  const WideRounds rounds = c.rounds();
  const NodeMemories windows(c.nodes, NodeWindow::bytes_needed(c.ranks, 0));
  const NodeMemories outboxes(c.nodes, Outbox::bytes_needed(rounds, c.ranks));
  std::vector<std::unique_ptr<ThreadRail::Shared>> rails;
  for (int a = 0; a < c.aggregators; ++a) rails.push_back(std::make_unique<ThreadRail::Shared>(c.nodes));
  const std::vector<int> aggregators = spread_out(c.ranks, c.aggregators);
  const std::vector<int> writers = writers_beside(c.ranks, c.aggregators);
  std::barrier agreement(total);
  std::vector<std::thread> threads;
  for (int t = 0; t < total; ++t) {
    threads.emplace_back([&, t] {
      const auto me = static_cast<std::size_t>(t);
      const int node = t / c.ranks;
      const int local = t % c.ranks;
      NodeWindow window(windows.of(node), c.ranks, local, 0);
      Outbox outbox(outboxes.of(node), rounds, c.ranks, local);
      MemoryStorage storage(file, seed + static_cast<unsigned>(t), c.delay);
      if (node == c.fail_node) storage.fail();
      FlushScratch scratch;
      std::uint64_t sequence = 0;
      Flush f{window, domains, storage, counters[me], scratch, sequence};
      f.node = node;
      f.nodes = c.nodes;
      f.fill_holes = seed % 2 == 0;
      std::unique_ptr<ThreadRail> rail;
      for (int a = 0; a < c.aggregators; ++a) {
        const auto i = static_cast<std::size_t>(a);
        if (local == writers[i]) f.writes_for = a;
        if (local != aggregators[i]) continue;
        f.aggregator = a;
        rail = std::make_unique<ThreadRail>(*rails[i], node);
        f.rail = rail.get();
      }
      work(me, f, outbox, agreement);
    });
  }
  for (auto& thread : threads) thread.join();
}

void run_case(const Case& c, Spread spread, unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", spread " + std::to_string(static_cast<int>(spread)));
  constexpr std::size_t kFlushes = 3;
  const int total = c.nodes * c.ranks;
  std::mt19937 random(seed);
  std::vector<std::byte> data(200'000);
  for (auto& byte : data) byte = static_cast<std::byte>(random());
  std::vector<std::byte> file(kBytes + kFar + 4096, std::byte{0x11});
  std::vector<std::byte> expected = file;
  const int shift = static_cast<int>(random() % 4);
  std::vector<std::vector<Puts>> puts;
  std::vector<std::int64_t> firsts;
  for (std::size_t flush = 0; flush < kFlushes; ++flush) {
    puts.push_back(draw(random, spread, total, 1 << shift, data, expected));
    std::int64_t first = kNoOffset;
    for (const Puts& of_rank : puts.back()) {
      for (const auto& runs : of_rank) first = std::min(first, runs.empty() ? kNoOffset : runs[0].file);
    }
    firsts.push_back(first == kNoOffset ? 0 : first);  // where nobody has anything
  }

  std::vector<Status> outcome(static_cast<std::size_t>(total));
  std::vector<Counters> counters(static_cast<std::size_t>(total));
  as_ranks(c, file, seed, counters, [&](std::size_t me, const Flush& f, Outbox& outbox, auto& agreement) {
    for (std::size_t flush = 0; flush < kFlushes; ++flush) {
      std::vector<std::unique_ptr<RunListCursor>> cursors;
      MemorySource source(data.data());
      std::vector<Put> mine;
      for (const auto& runs : puts[flush][me]) {
        if (runs.empty()) continue;
        cursors.push_back(std::make_unique<RunListCursor>(runs));
        mine.push_back({cursors.back().get(), &source});
      }
      OutboxRun run(f, outbox, mine);
      outcome[me].update(run.run(firsts[flush], shift));
      agreement.arrive_and_wait();
      if (c.fail_node >= 0) continue;
      // A read leaves nothing in the outbox that the next flush would write.
      std::vector<std::byte> seen(static_cast<std::size_t>(kBytes));
      RunListCursor all({{0, 0, kBytes}});
      MemorySink sink(seen.data());
      const Get get{&all, &sink};
      outcome[me].update(OutboxFetch(f, outbox, {&get, 1}, 0).run({0, kBytes}, 0));
      if (std::memcmp(seen.data(), file.data(), seen.size()) != 0)
        outcome[me].update({Code::internal, "other bytes were read"});
      agreement.arrive_and_wait();
    }
  });

  if (c.fail_node >= 0) {
    for (int t = 0; t < total; ++t)
      EXPECT_EQ(t / c.ranks == c.fail_node, !outcome[static_cast<std::size_t>(t)].ok()) << "thread " << t;
    return;
  }
  for (const Status& status : outcome) ASSERT_TRUE(status.ok()) << status.message();
  std::int64_t written = 0, put = 0;
  for (const Counters& count : counters) {
    written += count.written_bytes;
    put += count.bytes;
  }
  for (int t = 0; t < total; ++t) {
    if (c.owning.empty() || std::ranges::count(c.owning, t / c.ranks) > 0) continue;
    EXPECT_EQ(counters[static_cast<std::size_t>(t)].writes, 0)
        << "thread " << t << " of a node that owns nothing";
  }
  if (spread != Spread::overlapping && seed % 2 != 0) {
    EXPECT_EQ(written, put) << "every byte is written once";
  }
  for (std::size_t i = 0; i < file.size(); ++i) ASSERT_EQ(file[i], expected[i]) << "byte " << i;
}

/// Every rank reads what a spread gives it, and in one flush what all of them have, out of the same file.
void read_case(const Case& c, Spread spread, unsigned seed) {
  SCOPED_TRACE("reading, seed " + std::to_string(seed) + ", spread " +
               std::to_string(static_cast<int>(spread)));
  constexpr std::size_t kReads = 3;
  const int total = c.nodes * c.ranks;
  std::mt19937 random(seed);
  std::vector<std::byte> file(kBytes + kFar + 4096);
  for (auto& byte : file) byte = static_cast<std::byte>(random());
  const int shift = static_cast<int>(random() % 4);
  const std::vector<std::byte> unused(200'000);
  std::vector<std::byte> ignored(file.size());
  std::vector<std::vector<Puts>> gets;
  for (std::size_t read = 0; read < kReads; ++read) {
    gets.push_back(draw(random, spread, total, 1 << shift, unused, ignored));
    for (std::size_t r = 0; r < gets.back().size(); ++r) {
      // What several ranks want is read once, and all get it.
      if (read == 1) gets.back()[r] = gets.back()[r % 2];
      for (auto& runs : gets.back()[r]) {
        std::int64_t stream = 0;
        for (auto& run : runs) run.stream = std::exchange(stream, stream + run.length);
      }
    }
  }

  std::vector<std::string> wrong(static_cast<std::size_t>(total));
  std::vector<Counters> counters(static_cast<std::size_t>(total));
  as_ranks(c, file, seed, counters, [&](std::size_t me, const Flush& f, Outbox& outbox, auto& agreement) {
    for (std::size_t read = 0; read < kReads; ++read) {
      std::vector<std::unique_ptr<RunListCursor>> cursors;
      std::vector<std::unique_ptr<MemorySink>> sinks;
      std::vector<std::vector<std::byte>> memory;
      std::vector<Get> mine;
      Extent hull{kNoOffset, 0};
      for (const Puts& of_rank : gets[read]) {
        for (const auto& runs : of_rank) {
          for (const auto& run : runs)
            hull = {std::min(hull.begin, run.file), std::max(hull.end, run.file + run.length)};
        }
      }
      for (const auto& runs : gets[read][me]) {
        if (runs.empty()) continue;
        memory.emplace_back(static_cast<std::size_t>(runs.back().stream + runs.back().length));
        cursors.push_back(std::make_unique<RunListCursor>(runs));
        sinks.push_back(std::make_unique<MemorySink>(memory.back().data()));
        mine.push_back({cursors.back().get(), sinks.back().get()});
      }
      const Status status =
          OutboxFetch(f, outbox, mine, static_cast<std::int64_t>(seed % 3) * 1000).run(hull, shift);
      if (!status.ok()) wrong[me] = status.message();
      std::size_t get = 0;
      for (const auto& runs : gets[read][me]) {
        if (runs.empty()) continue;
        for (const auto& run : runs) {
          if (std::memcmp(memory[get].data() + run.stream, file.data() + run.file,
                          static_cast<std::size_t>(run.length)) != 0)
            wrong[me] = "read " + std::to_string(read) + ", bytes at " + std::to_string(run.file);
        }
        ++get;
      }
      agreement.arrive_and_wait();
    }
  });
  for (const std::string& what : wrong) EXPECT_EQ(what, "");
}

void run_all(const Case& c, unsigned seed) {
  for (int s = 0; s < static_cast<int>(Spread::count); ++s) {
    run_case(c, static_cast<Spread>(s), seed);
    read_case(c, static_cast<Spread>(s), seed++);
  }
}

TEST(OutboxThreads, SeveralNodes) {
  run_all({2, 4, 2, 8192, 4096, 2, 8192, 100}, 1);
  run_all({3, 2, 1, 16384, 4096, 4, 16384, 50}, 10);
  run_all({4, 1, 1, 4096, 4096, 1, 4096}, 20);
  run_all({2, 5, 2, 65536, 16384, 2, 16384, 50}, 30);
  run_all({2, 16, 2, 65536, 16384, 2, 16384, 50}, 35);
}

TEST(OutboxThreads, RoundsWithRoomForAll) {
  run_all({2, 3, 1, 65536, 65536, 8, 1 << 20}, 40);
}

TEST(OutboxThreads, StripesThatAreNoPowerOfTwo) {
  run_all({3, 2, 2, 12288, 12288, 2, 12288, 20}, 50);
  run_all({2, 2, 1, 20480, 4096, 3, 8192, 20}, 60);
}

TEST(OutboxThreads, ContiguousDomainsAndSomeNodesOwnTheFile) {
  run_all({2, 3, 2, 8192, 8192, 2, 16384, 20, -1, 32768}, 70);
  run_all({3, 2, 1, 8192, 4096, 2, 8192, 20, -1, 0, {2, 0}}, 80);
}

TEST(OutboxThreads, AFailureReachesItsWholeNodeAndNobodyHangs) {
  run_case({2, 3, 1, 8192, 4096, 2, 8192, 0, 1}, Spread::scattered, 90);
  run_case({2, 1, 1, 8192, 4096, 2, 8192, 0, 0}, Spread::blocks, 91);
}

TEST(WideRounds, ARankListsAsManyCellsAsWasTold) {
  for (const std::int64_t listed : {8192, 65536, 1 << 20}) {
    for (const int runs : {1, 5, 700}) {
      for (const std::int64_t length : {1, 4, 10}) {
        const WideRounds rounds{1, 8192, 1 << 20, 1, 64 << 20, listed};
        std::vector<std::byte> memory(Outbox::bytes_needed(rounds, 1) + 4096);
        auto* const at = reinterpret_cast<std::byte*>(
            (reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) / 4096 * 4096);
        Outbox outbox(at, rounds, 1, 0);
        std::int64_t cells = 0;
        while (cells < rounds.cells() && outbox.has_room()) {
          std::vector<forebay::Run> put;
          for (int i = 0; i < runs; ++i)
            put.push_back({cells * rounds.cell + i * rounds.cell / runs, 0, std::min(length, rounds.cell)});
          if (outbox.list(cells, cells * rounds.cell, put, nullptr) < put.size()) break;
          ++cells;
        }
        EXPECT_EQ(Outbox::cells_listed(rounds, static_cast<double>(runs * length), runs),
                  std::max<std::int64_t>(cells, 1))
            << listed << ' ' << runs << ' ' << length;
      }
    }
  }
}

TEST(WritersBeside, AreNeighboursWhereThereIsOne) {
  EXPECT_EQ(writers_beside(1, 1), std::vector<int>{0});
  EXPECT_EQ(writers_beside(2, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(writers_beside(3, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(writers_beside(8, 2), (std::vector<int>{1, 5}));
}

TEST(WideRounds, AsLargeAsMemoryAllows) {
  for (const std::int64_t stripe : {4096, 65536, 1 << 20, 3 << 20, 1'000'000, 1 << 26}) {
    for (const int nodes : {2, 30, 1000}) {
      for (const int ranks : {1, 4, 128}) {
        const int rails = std::min(ranks, 2);
        const FileDomains domains({stripe}, stripe, {nodes, rails});
        const std::int64_t bytes = std::int64_t{8 << 20} * ranks;
        const WideRounds rounds = choose_wide_rounds(
            domains, rails, nodes, ranks, bytes,
            [](const WideRounds& r, int q) { return static_cast<std::int64_t>(Outbox::bytes_needed(r, q)); });
        if (!rounds.possible()) {
          EXPECT_TRUE(stripe % 4096 != 0 || stripe * 8 > bytes) << stripe << ' ' << nodes << ' ' << ranks;
          continue;
        }
        EXPECT_LE(Outbox::bytes_needed(rounds, ranks), bytes);
        EXPECT_EQ(stripe % rounds.cell, 0);
        EXPECT_EQ(rounds.range, rounds.slots * stripe * nodes * rails);
        EXPECT_GE(rounds.listed, rounds.cell);
      }
    }
  }
}

// Each rank has memory for a cell: with 128 on a node cells shrink before rounds become impossible.
TEST(WideRounds, CellsShrinkWhereManyRanksHaveLittleMemory) {
  const auto needed = [](const WideRounds& r, int q) {
    return static_cast<std::int64_t>(Outbox::bytes_needed(r, q));
  };
  const std::int64_t stripe = 1 << 20;
  const FileDomains domains({stripe}, stripe, {8, 2});
  std::int64_t cell = 256 << 10;
  for (const std::int64_t mebibytes : {256, 128, 64, 48}) {
    const WideRounds rounds = choose_wide_rounds(domains, 2, 8, 128, mebibytes << 20, needed);
    ASSERT_TRUE(rounds.possible()) << mebibytes;
    EXPECT_LE(needed(rounds, 128), mebibytes << 20);
    EXPECT_LE(rounds.cell, cell);
    cell = rounds.cell;
  }
  EXPECT_LT(cell, 256 << 10);
  EXPECT_GE(cell, kWorthyMessage);
  EXPECT_FALSE(choose_wide_rounds(domains, 2, 8, 128, 8 << 20, needed).possible());
}

// A message, which may be a whole block, is counted by an int, whatever memory there is.
TEST(WideRounds, NoneForStripesThatNoMessageHolds) {
  const auto needed = [](const WideRounds& r, int q) {
    return static_cast<std::int64_t>(Outbox::bytes_needed(r, q));
  };
  for (const std::int64_t stripe : {std::int64_t{512} << 20, std::int64_t{1} << 30, std::int64_t{2} << 30}) {
    const FileDomains domains({stripe}, stripe, {4, 1});
    const WideRounds rounds = choose_wide_rounds(domains, 1, 4, 2, std::int64_t{1} << 50, needed);
    EXPECT_EQ(rounds.possible(), stripe <= std::int64_t{512} << 20) << stripe;
  }
}

}  // namespace
}  // namespace forebay
