// Folded runs are those that were added, whatever repeats in them; and what goes on regularly takes no more
// memory.
#include "api/folded_runs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace forebay::tcio {
namespace {

using Piece = forebay::Run;  // in a test, Run is GoogleTest's

class Folded {
 public:
  void add(const Run& run) {
    folded.add(run);
    plain.push_back(run);
  }
  void check() const {
    std::size_t at = 0;
    folded.for_each([&](const Run& run) {
      ASSERT_LT(at, plain.size());
      ASSERT_EQ(run.file, plain[at].file) << at;
      ASSERT_EQ(run.stream, plain[at].stream) << at;
      ASSERT_EQ(run.length, plain[at].length) << at;
      ++at;
    });
    EXPECT_EQ(at, plain.size());
  }
  FoldedRuns folded;
  std::vector<Run> plain;
};

TEST(FoldedRuns, ALoopOverSomeArraysTakesTheMemoryOfTwoTurns) {
  for (const int arrays : {1, 2, 3, 16}) {
    Folded runs;
    for (std::int64_t i = 0; i < 10000; ++i) {
      for (std::int64_t a = 0; a < arrays; ++a)
        runs.add(Piece{(i * arrays + a) * 12, (1 << 20) * a * a + (4 + 4 * (a % 2)) * i, 4 + 4 * (a % 2)});
    }
    runs.check();
    EXPECT_LE(runs.folded.entries(), 2U * static_cast<unsigned>(arrays) + 1) << arrays;
  }
}

TEST(FoldedRuns, WhateverRepeatsOrNotTheRunsAreThose) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
    Folded runs;
    std::int64_t file = 0, stream = 0;
    while (runs.plain.size() < 400) {
      // A turn of few different steps, some times over, perhaps left in its middle.
      std::vector<Piece> turn;
      for (std::int64_t i = 0, n = 1 + below(20); i < n; ++i)
        turn.push_back({below(3) - 1, below(2), 1 + below(2)});
      for (std::int64_t i = 0, n = below(60); i < n; ++i) {
        const Piece& step = turn[static_cast<std::size_t>(i) % turn.size()];
        file += step.file, stream += step.stream;
        runs.add(Piece{file, stream, step.length});
      }
    }
    runs.check();
  }
}

}  // namespace
}  // namespace forebay::tcio
