// A process that is killed while it copies into its level 1: what was copied is found there afterwards, and
// the copy in the middle is there as a whole or not at all.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "../dice.hpp"
#include "request/memory_stream.hpp"
#include "request/run_cursor.hpp"
#include "segments/node_segments.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kUnit = 48 << 10;
constexpr std::int64_t kElements = 4 * kUnit / 8;
constexpr std::int64_t kCalls = 100000;
constexpr int kCount = 3;
constexpr std::uint64_t kFile = 7;

struct Piece {
  std::int64_t begin, count;  // elements

  static Piece of(test::Dice& dice) {
    const std::int64_t most = dice.one_in(3) ? Level1::kMostPiece / 8 : dice.one_in(2) ? 300 : 4;
    Piece piece{dice.below(kElements), dice.between(1, most)};
    // Most go where the one before went.
    if (!dice.one_in(10)) piece.begin = piece.begin % (kUnit / 8);
    piece.count = std::min(piece.count, kUnit / 8 - piece.begin % (kUnit / 8));
    return piece;
  }
};

struct Progress {
  std::atomic<std::int64_t> begun, done;
};

[[noreturn]] void be_killed(NodeSegments& segments, Storage& storage, unsigned seed, Progress& progress) {
  Counters counters;
  segments.attach(storage, counters, std::chrono::hours(1));
  Level1 level1(kUnit);
  if (!segments.populate_level1()) ::_exit(2);
  level1.lie_in(segments.level1());
  test::Dice dice(seed);
  std::vector<std::uint64_t> values;
  for (std::int64_t call = 1; call <= kCalls; ++call) {
    const Piece piece = Piece::of(dice);
    values.assign(static_cast<std::size_t>(piece.count), static_cast<std::uint64_t>(call));
    const std::int64_t offset = piece.begin * 8;
    progress.begun = call;
    const Extent at = level1.segment();
    if (offset < at.begin || offset >= at.end || !level1.room()) {
      level1.tidy();
      RunCursor<Level1> cursor(level1);
      MemorySource source(level1.memory());
      if (!level1.empty() && !segments.put({&cursor, &source}).ok()) ::_exit(3);
      level1.clear();
      level1.align(offset);
    }
    level1.copy(offset, values.data(), piece.count * 8);
    progress.done = call;
  }
  ::_exit(0);
}

void kill_once(unsigned seed) {
  const std::size_t bytes = NodeSegments::bytes_needed(kUnit, kCount, 1, true);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& progress = *static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const int file = ::memfd_create("level1_kills", MFD_CLOEXEC);
  const auto storage = make_posix_storage(file, "level1_kills");
  {
    NodeSegments segments(memory, kUnit, kCount, 1, 0, true);
    segments.initialize();
    segments.serve(kFile);
    const pid_t child = ::fork();
    if (child == 0) be_killed(segments, *storage, seed, progress);
    test::Dice dice(seed + 1000000);
    const std::int64_t until = dice.between(1, 3000);
    int status = 0;
    while (progress.begun < until && ::waitpid(child, &status, WNOHANG) == 0) {
    }
    ::usleep(static_cast<useconds_t>(dice.below(100)));
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0) << WEXITSTATUS(status);
  }
  NodeSegments keeper(memory, kUnit, kCount, 1, 1, true);
  Counters counters;
  keeper.attach(*storage, counters, std::chrono::hours(1));
  const int ended[] = {0};
  ASSERT_TRUE(keeper.drain_for(kFile, ended).ok());

  std::vector<std::uint64_t> want(kElements), got(kElements);
  (void)!::pread(file, got.data(), got.size() * 8, 0);
  test::Dice dice(seed);
  for (std::int64_t call = 1; call <= progress.begun; ++call) {
    const Piece piece = Piece::of(dice);
    if (call > progress.done &&
        got[static_cast<std::size_t>(piece.begin)] != static_cast<std::uint64_t>(call))
      break;
    std::fill_n(want.begin() + piece.begin, piece.count, static_cast<std::uint64_t>(call));
  }
  const auto at = std::ranges::mismatch(got, want).in1 - got.begin();
  EXPECT_TRUE(got == want) << "seed " << seed << ", element " << at << ", of " << progress.done << " calls";
  ::close(file);
  ::munmap(&progress, sizeof progress);
  ::munmap(memory, bytes);
}

TEST(Level1Kills, WhatWasCopiedIsFound) {
  const char* const more = std::getenv("FOREBAY_TEST_KILLS");
  const unsigned kills = more != nullptr ? static_cast<unsigned>(std::atoi(more)) : 300;
  for (unsigned seed = 1; seed <= kills && !HasFailure(); ++seed) kill_once(seed);
}

}  // namespace
}  // namespace forebay
