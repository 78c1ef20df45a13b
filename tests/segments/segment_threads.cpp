// Ranks as threads over one memory: what they put, take out, read and write at the same time, against a model
// that is the file as it ought to be; and ranks that die in the middle of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../dice.hpp"
#include "../engine/run_list_cursor.hpp"
#include "../engine/thread_tools.hpp"
#include "request/memory_stream.hpp"
#include "segments/node_segments.hpp"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace forebay {
namespace {

using ::test::Dice;
using test::RunListCursor;
using Bytes = std::vector<std::byte>;

// ---- the file ----

/// Fails at times, in the middle. Byte by byte, as a file: whoever fills holes writes what is there already
/// while others read it; relaxed, so that it orders nothing. Or `plain`: the sanitizer sees every access.
class ByteStorage final : public Storage {
 public:
  ByteStorage(Bytes& file, unsigned seed, int fails, bool plain, int delay)
      : file_(file), random_(seed), fails_(fails), plain_(plain), delay_(delay) {}

  Status write(std::span<const Piece> pieces) override {
    test::dawdle(random_, delay_);
    if (fails()) pieces = pieces.first(random_() % pieces.size());
    for (const Piece& p : pieces) {
      if (on_write != nullptr) on_write();
      for (std::int64_t i = 0; i < p.length; ++i) {
        if (plain_)
          file_[static_cast<std::size_t>(p.offset + i)] = p.data[i];
        else
          at(p.offset + i).store(p.data[i], std::memory_order_relaxed);
      }
    }
    return std::exchange(failing_, false) ? Status(Code::io, "injected") : Status{};
  }
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    test::dawdle(random_, delay_);
    if (fails()) {
      failing_ = false;
      return {Code::io, "injected"};
    }
    for (std::int64_t i = 0; i < length; ++i) data[i] = at(offset + i).load(std::memory_order_relaxed);
    return {};
  }

  void (*on_write)() = nullptr;

 private:
  bool fails() { return failing_ = fails_ > 0 && random_() % static_cast<unsigned>(fails_) == 0; }
  std::atomic_ref<std::byte> at(std::int64_t offset) {
    return std::atomic_ref<std::byte>(file_[static_cast<std::size_t>(offset)]);
  }

  Bytes& file_;
  std::mt19937 random_;
  int fails_;
  bool plain_;
  int delay_;
  bool failing_ = false;
};

struct Shape {
  int ranks;
  std::int64_t segment_bytes;
  int count;
  bool fills = false;
  int fails = 0;       // one in so many writes and reads
  bool plain = false;  // the file is plain memory, which the sanitizer sees: puts and drains only
  bool rush = false;   // many small calls without delays
};

constexpr std::int64_t kFile = 12 << 10;

/// What all ranks of a test share.
struct Node {
  explicit Node(const Shape& s, std::uint64_t seed)
      : shape(s),
        memory(1, NodeSegments::bytes_needed(s.segment_bytes, s.count, s.ranks)),
        file(static_cast<std::size_t>(kFile + s.segment_bytes)) {
    Dice dice(seed);
    for (std::byte& b : file) b = static_cast<std::byte>(dice.next());
    NodeSegments(memory.of(0), s.segment_bytes, s.count, s.ranks, 0).initialize();
  }
  Shape shape;
  test::NodeMemories memory;
  Bytes file;
};

/// One rank's view.
struct Rank {
  Rank(Node& node, int r, std::uint64_t seed)
      : segments(node.memory.of(0), node.shape.segment_bytes, node.shape.count, node.shape.ranks, r),
        dice(seed * 100 + static_cast<unsigned>(r)),
        storage(node.file, static_cast<unsigned>(dice.next()), node.shape.fails, node.shape.plain,
                node.shape.rush ? 0 : 200),
        rank(r) {
    segments.attach(storage, counters, std::chrono::milliseconds(2), node.shape.fills);
  }

  void put(const std::vector<Run>& runs, const Bytes& bytes) {
    RunListCursor cursor(runs);
    MemorySource source(bytes.data());
    while (!segments.put({&cursor, &source}).ok()) {
    }
  }
  void begin_bypass(const std::vector<Run>& runs, const Bytes& bytes) {
    for (const Run& run : runs) {
      const Piece piece{run.file, bytes.data() + run.stream, run.length};
      while (!storage.write({&piece, 1}).ok()) {
      }
    }
  }
  Bytes read(const std::vector<Run>& runs) {
    Bytes bytes(static_cast<std::size_t>(runs.empty() ? 0 : runs.back().stream + runs.back().length));
    RunListCursor cursor(runs);
    MemorySink sink(bytes.data());
    while (!segments.read({&cursor, &sink}, bypass, counters).ok()) {
    }
    return bytes;
  }
  void drain() {
    while (!segments.drain().ok()) {
    }
  }

  NodeSegments segments;
  Counters counters;
  Bypass bypass;
  Dice dice;
  ByteStorage storage;
  int rank;
};

// ---- against the model ----

/// Who writes what in an epoch: granules of random size, each of one rank's or of nobody's.
class Owners {
 public:
  Owners(std::uint64_t seed, int epoch, int ranks) : dice_(seed * 1000 + static_cast<unsigned>(epoch)) {
    std::array<std::int64_t, 5> sizes{1, 3, 8, 24, 400};
    const std::int64_t size = dice_.pick(sizes);
    for (std::int64_t at = 0; at < kFile;) {
      const std::int64_t length = std::min(kFile - at, size);
      if (const auto r = dice_.below(ranks + 1); r < ranks)
        of_.emplace_back(static_cast<int>(r), Extent{at, at + length});
      at += length;
    }
  }
  /// Some of a rank's granules, near each other or not, ascending.
  std::vector<Run> choose(int rank, Dice& dice, bool rush) const {
    std::vector<Run> runs;
    const std::int64_t begin = dice.below(kFile);
    const std::int64_t end = begin + dice.between(1, rush ? 100 : dice.one_in(3) ? kFile : 600);
    const std::int64_t skip = dice.between(1, 3);
    std::int64_t stream = 0;
    for (const auto& [owner, range] : of_) {
      if (owner != rank || range.begin < begin || range.end > end || dice.below(skip) != 0) continue;
      if (!runs.empty() && runs.back().file + runs.back().length == range.begin)
        runs.back().length += range.size();
      else
        runs.push_back({range.begin, stream, range.size()});
      stream += range.size();
    }
    return runs;
  }

 private:
  Dice dice_;
  std::vector<std::pair<int, Extent>> of_;
};

Bytes new_bytes(const std::vector<Run>& runs, Dice& dice, Bytes& model) {
  Bytes bytes;
  for (const Run& run : runs) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      bytes.push_back(static_cast<std::byte>(dice.next()));
      model[static_cast<std::size_t>(run.file + i)] = bytes.back();
    }
  }
  return bytes;
}

Bytes of_model(const std::vector<Run>& runs, const Bytes& model) {
  Bytes bytes;
  for (const Run& run : runs)
    bytes.insert(bytes.end(), model.begin() + run.file, model.begin() + run.file + run.length);
  return bytes;
}

void do_something(Rank& rank, const Owners& owners, Bytes& model, const Shape& shape) {
  const std::vector<Run> runs = owners.choose(rank.rank, rank.dice, shape.rush);
  NodeSegments& segments = rank.segments;
  const auto kind = rank.dice.below(12);
  if (kind == 0) {
    (void)segments.drain({rank.dice.below(kFile), kFile});
  } else if (kind == 1) {
    (void)segments.drain_share();
  } else if (kind == 2) {
    segments.drain_overdue();
  } else if (kind < 8 || shape.plain) {
    rank.put(runs, new_bytes(runs, rank.dice, model));
  } else if (kind == 8) {
    RunListCursor cursor(runs);
    segments.discard(cursor);
    rank.begin_bypass(runs, new_bytes(runs, rank.dice, model));
    if (rank.dice.one_in(2)) segments.end_bypass();
  } else if (kind == 9) {
    for (const Run& run : runs) segments.discard(Extent{run.file, run.file + run.length});
    rank.begin_bypass(runs, new_bytes(runs, rank.dice, model));
    segments.end_bypass();
  } else if (kind == 10) {
    segments.begin_bypass();
    rank.drain();
    rank.begin_bypass(runs, new_bytes(runs, rank.dice, model));
    segments.end_bypass();
  } else {
    EXPECT_EQ(rank.read(runs), of_model(runs, model));
  }
}

// Anything is read by anybody, while others drain.
void look(Rank& rank, const Bytes& model) {
  std::vector<Run> runs;
  std::int64_t stream = 0;
  for (std::int64_t at = rank.dice.below(500); at < kFile;) {
    const std::int64_t length = std::min(kFile - at, rank.dice.between(1, 700));
    runs.push_back({at, stream, length});
    stream += length;
    at += length + rank.dice.between(1, 3000);
  }
  EXPECT_EQ(rank.read(runs), of_model(runs, model));
}

Counters run(const Shape& shape, std::uint64_t seed) {
  const int epochs = 3, calls = shape.rush ? 400 : 12;
  Node node(shape, seed);
  Bytes model(node.file.begin(), node.file.begin() + kFile);
  std::barrier barrier(shape.ranks);
  std::vector<Counters> counters(static_cast<std::size_t>(shape.ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < shape.ranks; ++r) {
    threads.emplace_back([&, r] {
      Rank rank(node, r, seed);
      for (int epoch = 0; epoch < epochs; ++epoch) {
        const Owners owners(seed, epoch, shape.ranks);
        for (int i = 0; i < calls; ++i) do_something(rank, owners, model, shape);
        if (rank.dice.one_in(3)) (void)rank.segments.drain_share();
        rank.segments.end_bypass();
        barrier.arrive_and_wait();
        if (!shape.plain) look(rank, model);
        if (rank.dice.one_in(3)) (void)rank.segments.drain();
        barrier.arrive_and_wait();
      }
      while (!rank.segments.drain_share().ok()) {
      }
      barrier.arrive_and_wait();
      EXPECT_EQ(rank.segments.kept(), 0);
      counters[static_cast<std::size_t>(r)] = rank.counters;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Bytes(node.file.begin(), node.file.begin() + kFile), model);
  Counters sum;
  for (const Counters& c : counters) sum.rmw_blocks += c.rmw_blocks, sum.writes += c.writes;
  return sum;
}

Counters run_seeds(const Shape& shape, int seeds) {
  Counters sum;
  for (int seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", ranks " + std::to_string(shape.ranks));
    const Counters one = run(shape, static_cast<std::uint64_t>(seed));
    sum.rmw_blocks += one.rmw_blocks, sum.writes += one.writes;
  }
  return sum;
}

TEST(SegmentThreads, PlainMemory) {
  for (const int ranks : {2, 3, 8}) run_seeds({ranks, 512, 2 * ranks, false, 0, true}, 6);
}

TEST(SegmentThreads, Rush) {
  for (const int ranks : {2, 3, 8}) {
    run_seeds({ranks, 64, ranks + 2, false, 0, true, true}, 2);
    run_seeds({ranks, 64, ranks + 2, false, 0, false, true}, 2);
  }
}

TEST(SegmentThreads, AgainstTheModel) {
  for (const int ranks : {2, 3, 8}) run_seeds({ranks, 512, 4 * ranks}, 6);
}

TEST(SegmentThreads, FewSegments) {
  for (const int ranks : {2, 3, 8}) run_seeds({ranks, 192, 3}, 6);
}

TEST(SegmentThreads, HolesAreFilled) {
  std::int64_t filled = 0;
  for (const int ranks : {2, 3, 8}) filled += run_seeds({ranks, 1024, 6, true}, 6).rmw_blocks;
  EXPECT_GT(filled, 0);
}

TEST(SegmentThreads, StorageFailsAtTimes) {
  for (const int ranks : {2, 3, 8}) run_seeds({ranks, 512, 5, ranks != 3, 12}, 5);
}

// ---- deaths ----

thread_local std::jmp_buf grave;
thread_local int until_death = 0;  // so many more looks

/// The thread ends when it has looked so often: without a destructor, and so with its locks held.
void look_whether_to_die() {
  if (until_death > 0 && --until_death == 0) std::longjmp(grave, 1);
}

/// Elements of eight bytes, some of them cut by a segment's edge; copies a part, then looks whether to die.
class MortalSource final : public Source {
 public:
  explicit MortalSource(const std::byte* memory) : memory_(memory) {}
  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
    for (const Run& run : runs) {
      const auto length = static_cast<std::size_t>(run.length);
      std::byte* const to = destination + (run.file - origin);
      std::memcpy(to, memory_ + run.stream, length / 2);
      look_whether_to_die();
      std::memcpy(to + length / 2, memory_ + run.stream + length / 2, length - length / 2);
    }
  }

 private:
  const std::byte* memory_;
};

constexpr std::int64_t kFirst = 3;  // the byte at which the first element lies
constexpr std::int64_t kElements = 1200;

/// A rank's puts: elements whose number is its own modulo the ranks. All that has been put where.
struct Life {
  std::vector<std::vector<std::uint64_t>> values{static_cast<std::size_t>(kElements)};
  std::vector<char> uncertain = std::vector<char>(static_cast<std::size_t>(kElements), 0);
  // Of the put in progress; here, since a death frees nothing.
  std::unique_ptr<RunListCursor> cursor;
  std::vector<std::uint64_t> elements;
  std::vector<std::size_t> numbers;
  bool died = false;
};

void live(Rank& rank, Life& life, int ranks, int calls) {
  for (int call = 0; call < calls; ++call) {
    std::vector<Run> runs;
    life.elements.clear();
    life.numbers.clear();
    const std::int64_t skip = rank.dice.between(1, 3);
    const std::int64_t last = std::min(kElements, rank.dice.between(1, kElements));
    for (std::int64_t e = std::max(std::int64_t{0}, last - rank.dice.between(1, 200)); e < last; ++e) {
      // In the last part, neighbours are one rank's.
      const std::int64_t owner = e < kElements / 2 ? e % ranks : e / 40 % ranks;
      if (owner != rank.rank || rank.dice.below(skip) != 0) continue;
      const auto number = static_cast<std::size_t>(e);
      runs.push_back({kFirst + 8 * e, static_cast<std::int64_t>(8 * life.elements.size()), 8});
      life.elements.push_back(rank.dice.next());
      life.numbers.push_back(number);
      life.values[number].push_back(life.elements.back());
      life.uncertain[number] = 1;
    }
    life.cursor = std::make_unique<RunListCursor>(runs);
    MortalSource source(reinterpret_cast<const std::byte*>(life.elements.data()));
    while (!rank.segments.put({life.cursor.get(), &source}).ok()) {
    }
    for (const std::size_t number : life.numbers) life.uncertain[number] = 0;
    if (rank.dice.one_in(6)) (void)rank.segments.drain_share();
    if (rank.dice.one_in(10)) (void)rank.segments.drain();
  }
}

// What the kernel does when it finds the locks of a dead thread, which the sanitizer does not see.
void leave_locks([[maybe_unused]] const Node& node, [[maybe_unused]] int rank) {
#ifdef __SANITIZE_THREAD__
  const Shape& s = node.shape;
  const SegmentArea area(node.memory.of(0), s.segment_bytes, s.count, s.ranks, rank);
  for (int i = 0; i < s.count; ++i) {
    if (area.segments[i].holder.load() == rank + 1) __tsan_release(&area.segments[i].lock);
  }
#endif
}

void be_a_rank(Node& node, Rank& rank, Life& life, int calls, int dies_at) {
  until_death = dies_at;
  if (setjmp(grave) == 0) {
    live(rank, life, node.shape.ranks, calls);
  } else {
    life.died = true;
    leave_locks(node, rank.rank);
  }
}

// Of an element that an edge cuts and that was being put, each part counts by itself: the first one is not
// waited with where the second has to wait for a segment.
bool is_one_of(const std::byte* found, const std::vector<std::uint64_t>& allowed, std::size_t begin,
               std::size_t end) {
  return std::any_of(allowed.begin(), allowed.end(), [&](std::uint64_t value) {
    return std::memcmp(found + begin, reinterpret_cast<const std::byte*>(&value) + begin, end - begin) == 0;
  });
}

void check(const Node& node, const Bytes& before, const std::vector<Life>& lives) {
  for (std::int64_t e = 0; e < kElements; ++e) {
    const std::int64_t at = kFirst + 8 * e;
    std::vector<std::uint64_t> allowed(1);
    std::memcpy(allowed.data(), before.data() + at, 8);
    std::size_t edge = 8;
    for (const Life& life : lives) {
      const auto& values = life.values[static_cast<std::size_t>(e)];
      if (values.empty()) continue;
      if (life.uncertain[static_cast<std::size_t>(e)] == 0) {
        allowed = {values.back()};
      } else {
        allowed.insert(allowed.end(), values.begin(), values.end());
        edge = std::min<std::size_t>(
            8, static_cast<std::size_t>(-at % node.shape.segment_bytes + node.shape.segment_bytes));
      }
    }
    ASSERT_TRUE(is_one_of(node.file.data() + at, allowed, 0, edge)) << "element " << e;
    ASSERT_TRUE(is_one_of(node.file.data() + at, allowed, edge, 8)) << "element " << e;
  }
}

bool run_with_a_death(const Shape& shape, std::uint64_t seed) {
  Node node(shape, seed);
  const Bytes before = node.file;
  Dice dice(seed);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < shape.ranks; ++r) {
    ranks.push_back(std::make_unique<Rank>(node, r, seed));
    ranks.back()->storage.on_write = look_whether_to_die;
  }
  std::vector<Life> lives(ranks.size());
  std::vector<std::thread> threads;
  const int dies_at = static_cast<int>(dice.between(1, 400));
  for (int r = 0; r < shape.ranks; ++r) {
    threads.emplace_back([&, r] {
      const auto at = static_cast<std::size_t>(r);
      be_a_rank(node, *ranks[at], lives[at], 20, r == 0 ? dies_at : 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ranks.back()->storage.on_write = nullptr;
  ranks.back()->drain();
  EXPECT_EQ(ranks.back()->segments.kept(), 0);
  check(node, before, lives);
  return lives[0].died;
}

TEST(SegmentThreads, ADeadRankTakesNothingAlong) {
  int deaths = 0;
  for (const int ranks : {2, 3, 8}) {
    for (std::uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", ranks " + std::to_string(ranks));
      const auto count = static_cast<int>(3 + seed % 3 * 8);
      deaths += run_with_a_death({ranks, 448, count, seed % 2 == 0, seed % 4 == 3 ? 10 : 0}, seed) ? 1 : 0;
    }
  }
  EXPECT_GT(deaths, 20);
}

}  // namespace
}  // namespace forebay
