// The slow, obvious oracle of the request tests: every byte one by one, and a walker that holds a cursor to
// its contract.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "request/cursor.hpp"
#include "request/stream.hpp"

namespace forebay::test {

/// The bytes a request moves, in the order in which they are to be applied.
struct ByteMove {
  std::int64_t file;
  std::int64_t stream;
  bool operator==(const ByteMove&) const = default;
};
using Moves = std::vector<ByteMove>;

/// Inside a TEST the plain name is GoogleTest's.
using Runs = std::vector<Run>;

/// What the file holds in the end: the last move to each byte, by ascending file byte.
inline Moves image_of(Moves moves) {
  std::stable_sort(moves.begin(), moves.end(),
                   [](const ByteMove& a, const ByteMove& b) { return a.file < b.file; });
  Moves image;
  for (const ByteMove& move : moves) {
    if (!image.empty() && image.back().file == move.file) image.pop_back();
    image.push_back(move);
  }
  return image;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [low, high].
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool one_in(std::int64_t n) { return (*this)(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

/// A seed for this run of the tests, printed with every failure; FOREBAY_TEST_SEED repeats one.
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("FOREBAY_TEST_SEED");
    const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    ::testing::Test::RecordProperty("seed", std::to_string(value));
    std::printf("FOREBAY_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

/// How many cases a test tries: fewer where every access is checked.
constexpr int cases(int count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return count / 8 + 1;
#else
  return count;
#endif
}

struct Walk {
  std::int64_t round_bytes = 1;
  bool ascending = true;  // runs of a round must come in ascending order
  std::int64_t max_batch = 7;
  bool skip_rounds = false;  // sometimes take several rounds at once
};

/// Takes everything from a cursor, in rounds of random sizes and batches, and checks each promise that
/// cursor.hpp makes.
inline void check_cursor(Cursor& cursor, const Moves& moves, const Walk& walk, Random& random) {
  const Moves want = image_of(moves);
  std::vector<std::int64_t> files;  // ascending: what peek() must say
  for (const ByteMove& move : want) files.push_back(move.file);
  const Extent hull = cursor.hull();
  if (files.empty()) {
    EXPECT_TRUE(hull.empty());
  } else {
    ASSERT_LE(hull.begin, files.front());
    ASSERT_GT(hull.end, files.back());
  }
  const std::int64_t alignment = cursor.alignment();
  ASSERT_GE(alignment, 1);
  ASSERT_LE(alignment, 4096);
  ASSERT_EQ(alignment & (alignment - 1), 0);

  if (random.one_in(3)) {  // a walk that is broken off leaves nothing behind, as when somebody only looks at
                           // the first runs
    cursor.start(random.one_in(2) ? walk.round_bytes : std::int64_t{1} << 40);
    std::vector<Run> first(static_cast<std::size_t>(random(1, 3)));
    cursor.take(kNoOffset, first);
  }
  cursor.start(walk.round_bytes);
  Moves got;
  bool exact = true;
  std::int64_t limit = 0;
  std::int64_t last_taken_end = std::numeric_limits<std::int64_t>::min();
  while (true) {
    const std::int64_t peek = cursor.peek();
    const auto next = std::lower_bound(files.begin(), files.end(), limit);
    if (next == files.end()) {
      ASSERT_EQ(peek, kNoOffset);
      break;
    }
    if (exact) {
      ASSERT_EQ(peek, *next);
    } else {
      ASSERT_LE(peek, *next);
      ASSERT_GE(peek, std::min(limit, *next));
    }
    // Usually the round of the next byte; sometimes one before it, several at once, or all.
    std::int64_t round = peek / walk.round_bytes;
    if (walk.skip_rounds && random.one_in(4)) round += random(-1, 5);
    limit = std::max(limit, (round + 1) * walk.round_bytes);
    if (walk.skip_rounds && random.one_in(50)) limit = kNoOffset;
    const std::int64_t first_round = peek;
    std::size_t calls = 0;
    while (true) {
      std::vector<Run> out(static_cast<std::size_t>(random(1, walk.max_batch)));
      const std::int64_t before = cursor.peek();
      const std::size_t taken = cursor.take(limit, out);
      ASSERT_LE(taken, out.size());
      if (calls++ == 0) {
        ASSERT_EQ(taken > 0, before < limit)
            << "take makes progress exactly when peek says so; limit " << limit;
      }
      if (taken == 0) break;
      for (std::size_t i = 0; i < taken; ++i) {
        const Run& run = out[i];
        ASSERT_GT(run.length, 0);
        ASSERT_GE(run.file, before);
        ASSERT_GE(run.file, first_round);
        ASSERT_LE(run.length, limit - run.file);
        if (walk.ascending) {
          ASSERT_GE(run.file, last_taken_end);
        }
        last_taken_end = run.file + run.length;
        // A cut lies on the round's grid, where the alignment need not hold.
        const auto aligned = [&](std::int64_t at) {
          return at % alignment == 0 || at % walk.round_bytes == 0;
        };
        ASSERT_TRUE(aligned(run.file) && aligned(run.file + run.length));
        for (std::int64_t b = 0; b < run.length; ++b) got.push_back({run.file + b, run.stream + b});
        ASSERT_LE(got.size(), moves.size());
      }
    }
    ASSERT_GE(cursor.peek(), limit);
  }
  ASSERT_EQ(got.size(), moves.size());
  const Moves image = image_of(std::move(got));
  if (image == want) return;
  const auto differ = std::mismatch(image.begin(), image.end(), want.begin(), want.end());
  FAIL() << "at file byte " << differ.second->file << " stream byte " << differ.first->stream << ", not "
         << differ.second->stream;
}

}  // namespace forebay::test
