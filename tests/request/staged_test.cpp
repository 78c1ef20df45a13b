// Staged sources and sinks against a plain copy: any order of runs, any piece, failures at any call.
#include <algorithm>
#include <cstring>
#include <vector>

#include "reference.hpp"
#include "request/staged_sink.hpp"
#include "request/staged_source.hpp"

namespace forebay::test {
namespace {

// Moves at finish, as late as is allowed, and looks at how it is called.
class Memory final : public Mover {
 public:
  Memory(std::int64_t element, std::int64_t elements, StagingMemory staging, bool put)
      : bytes(static_cast<std::size_t>(element * elements)), element_(element), staging_(staging), put_(put) {
    pending_.resize(static_cast<std::size_t>(staging.slots));
  }

  bool begin(int slot, std::int64_t first, std::int64_t length, std::byte* at) override {
    if (++calls == fails_at) return false;
    Work& work = pending_.at(static_cast<std::size_t>(slot));
    EXPECT_EQ(work.length, 0) << "a slot is begun twice";
    EXPECT_EQ(first % element_, 0);
    EXPECT_EQ(length % element_, 0);
    EXPECT_GT(length, 0);
    EXPECT_LE(first + length, static_cast<std::int64_t>(bytes.size()));
    const std::int64_t place = at - (staging_.at + slot * staging_.slot_bytes);
    EXPECT_TRUE(place >= 0 && place + length <= staging_.slot_bytes && place % element_ == 0);
    work = {first, length, at};
    if (put_) std::fill(at, at + length, std::byte{0xEE});  // until it is finished
    pieces.push_back(first);
    return true;
  }
  bool finish(int slot) override {
    if (++calls == fails_at) return false;
    Work& work = pending_.at(static_cast<std::size_t>(slot));
    EXPECT_GT(work.length, 0) << "nothing was begun";
    const auto length = static_cast<std::size_t>(work.length);
    std::byte* const mine = bytes.data() + work.first;
    if (put_) {
      std::memcpy(work.at, mine, length);
    } else {
      std::memcpy(mine, work.at, length);
      std::fill(work.at, work.at + length, std::byte{0xEE});
    }
    work = {};
    return true;
  }
  bool idle() const {
    return std::all_of(pending_.begin(), pending_.end(), [](const Work& w) { return w.length == 0; });
  }

  std::vector<std::byte> bytes;
  std::vector<std::int64_t> pieces;
  int calls = 0;
  int fails_at = 0;

 private:
  struct Work {
    std::int64_t first = 0, length = 0;
    std::byte* at = nullptr;
  };
  std::int64_t element_;
  StagingMemory staging_;
  bool put_;
  std::vector<Work> pending_;
};

struct Case {
  explicit Case(Random& random)
      : element(random.one_in(2) ? std::int64_t{1} << random(0, 4) : random(1, 20)),
        elements(random(1, 200)),
        staging(static_cast<std::size_t>(1 << 14)),
        memory{staging.data(), element * random(1, 12) + random(0, element - 1),
               static_cast<int>(random(1, 4))},
        file(static_cast<std::size_t>(3 * element * elements + 64), std::byte{0x11}),
        origin(random(0, 1000)) {
    // Pieces of the stream with gaps in the file, ascending; then in any order, maybe.
    std::int64_t at = random(0, 9);
    for (std::int64_t stream = 0; stream < element * elements;) {
      const std::int64_t length =
          std::min(random.one_in(4) ? random(1, 90) : random(1, 9), element * elements - stream);
      runs.push_back({origin + at, stream, length});
      stream += length;
      at += length + random(0, 2 * length / 3);
    }
    ascending = random.one_in(2);
    if (!ascending) {
      for (std::size_t i = runs.size(); i > 1; --i)
        std::swap(runs[i - 1], runs[static_cast<std::size_t>(random(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }
  template <class F>
  void in_batches(Random& random, F&& f) const {
    for (std::size_t i = 0; i < runs.size();) {
      const auto n = static_cast<std::size_t>(random(1, 8));
      f(std::span<const forebay::Run>(runs).subspan(i, std::min(n, runs.size() - i)));
      i += n;
    }
  }

  std::int64_t element, elements;
  std::vector<std::byte> staging;
  StagingMemory memory;
  std::vector<std::byte> file;
  std::int64_t origin;
  std::vector<forebay::Run> runs;
  bool ascending = true;
};

TEST(StagedSource, ProducesAnyRunsByteForByte) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(3000) && !HasFailure(); ++repeat) {
    Case c(random);
    Memory memory(c.element, c.elements, c.memory, true);
    for (std::byte& byte : memory.bytes) byte = static_cast<std::byte>(random(0, 255));
    auto expected = c.file;
    for (const forebay::Run& run : c.runs)
      std::memcpy(expected.data() + (run.file - c.origin), memory.bytes.data() + run.stream,
                  static_cast<std::size_t>(run.length));
    StagedSource source(memory, c.element, c.element * c.elements, c.memory);
    if (random.one_in(2)) source.begin();
    c.in_batches(random, [&](auto runs) { source.produce(runs, c.file.data(), c.origin); });
    source.settle();
    EXPECT_TRUE(memory.idle());
    EXPECT_EQ(c.file, expected);
    if (c.ascending) {  // each piece once
      const std::int64_t piece = c.memory.slot_bytes / c.element * c.element;
      EXPECT_EQ(memory.pieces.size(), static_cast<std::size_t>((c.element * c.elements + piece - 1) / piece));
    }
  }
}

TEST(StagedSource, BeginsTheNextPieceBeforeThisOneMoves) {
  std::vector<std::byte> staging(16), file(24);
  const StagingMemory two{staging.data(), 8, 2};
  Memory memory(4, 6, two, true);
  StagedSource source(memory, 4, 24, two);
  source.begin();
  EXPECT_EQ(memory.pieces, (std::vector<std::int64_t>{0}));
  const forebay::Run run{0, 0, 1};
  source.produce({&run, 1}, file.data(), 0);
  EXPECT_EQ(memory.pieces, (std::vector<std::int64_t>{0, 8}));
  source.settle();
}

TEST(StagedSource, TouchesNothingThatDidNotCome) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(1000) && !HasFailure(); ++repeat) {
    Case c(random);
    Memory memory(c.element, c.elements, c.memory, true);
    std::fill(memory.bytes.begin(), memory.bytes.end(), std::byte{0x22});
    memory.fails_at = static_cast<int>(random(1, 20));
    StagedSource source(memory, c.element, c.element * c.elements, c.memory);
    bool threw = false;
    try {
      c.in_batches(random, [&](auto runs) { source.produce(runs, c.file.data(), c.origin); });
    } catch (const StagedSource::Failed&) {
      threw = true;
    }
    source.settle();
    EXPECT_EQ(source.failed(), memory.calls >= memory.fails_at);
    EXPECT_TRUE(!threw || source.failed());
    EXPECT_EQ(std::count(c.file.begin(), c.file.end(), std::byte{0xEE}), 0);
  }
}

TEST(StagedSink, TakesAnyRunsByteForByte) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(3000) && !HasFailure(); ++repeat) {
    Case c(random);
    for (std::byte& byte : c.file) byte = static_cast<std::byte>(random(0, 255));
    Memory memory(c.element, c.elements, c.memory, false);
    auto expected = memory.bytes;
    for (const forebay::Run& run : c.runs)
      std::memcpy(expected.data() + run.stream, c.file.data() + (run.file - c.origin),
                  static_cast<std::size_t>(run.length));
    StagedSink sink(memory, c.element, c.memory);
    c.in_batches(random, [&](auto runs) { sink.consume(runs, c.file.data(), c.origin); });
    sink.settle();
    EXPECT_TRUE(memory.idle());
    EXPECT_FALSE(sink.failed());
    EXPECT_EQ(memory.bytes, expected);
    if (c.ascending) {
      const std::int64_t piece = c.memory.slot_bytes / c.element * c.element;
      EXPECT_EQ(memory.pieces.size(), static_cast<std::size_t>((c.element * c.elements + piece - 1) / piece));
    }
  }
}

TEST(StagedSink, FailsQuietly) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(1000) && !HasFailure(); ++repeat) {
    Case c(random);
    Memory memory(c.element, c.elements, c.memory, false);
    memory.fails_at = static_cast<int>(random(1, 20));
    StagedSink sink(memory, c.element, c.memory);
    c.in_batches(random, [&](auto runs) { sink.consume(runs, c.file.data(), c.origin); });
    sink.settle();
    EXPECT_EQ(sink.failed(), memory.calls >= memory.fails_at);
  }
}

}  // namespace
}  // namespace forebay::test
