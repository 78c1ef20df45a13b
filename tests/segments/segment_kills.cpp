// Ranks as processes, one of which is killed at any moment: what the others find.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../dice.hpp"
#include "../engine/run_list_cursor.hpp"
#include "segments/node_segments.hpp"

namespace forebay {
namespace {

using ::test::Dice;

constexpr int kRanks = 3;
constexpr int kCalls = 150;
constexpr std::int64_t kElements = 1500;
constexpr std::int64_t kFirst = 3;  // the byte at which the first element lies: edges cut some
constexpr std::int64_t kSegment = 448;

struct Element {
  std::int64_t number;
  std::uint64_t value;
};

/// What a rank puts in its call, the same whoever asks: elements whose number is its own modulo the ranks.
std::vector<Element> elements_of(std::uint64_t seed, int rank, int call) {
  Dice dice((seed * kRanks + static_cast<unsigned>(rank)) * kCalls + static_cast<unsigned>(call));
  std::vector<Element> elements;
  const std::int64_t begin = dice.below(kElements), end = std::min(kElements, begin + dice.between(1, 300));
  for (std::int64_t e = begin; e < end; ++e) {
    if (e % kRanks == rank) elements.push_back({e, dice.next()});
  }
  return elements;
}

/// Copies each element in two steps, with time between for a kill.
class SlowSource final : public Source {
 public:
  explicit SlowSource(const std::uint64_t* values) : memory_(reinterpret_cast<const std::byte*>(values)) {}
  void produce(std::span<const forebay::Run> runs, std::byte* destination, std::int64_t origin) override {
    for (const forebay::Run& run : runs) {
      const auto length = static_cast<std::size_t>(run.length);
      std::byte* const to = destination + (run.file - origin);
      std::memcpy(to, memory_ + run.stream, length / 2);
      if (run.stream / 8 % 32 == 0) ::usleep(1);
      std::memcpy(to + length / 2, memory_ + run.stream + length / 2, length - length / 2);
    }
  }

 private:
  const std::byte* memory_;
};

/// In memory that all processes share.
struct Progress {
  std::array<std::atomic<int>, kRanks> begun, done;
};

class SegmentKills : public testing::Test {
 protected:
  void* share(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    shared_.emplace_back(memory, bytes);
    return memory;
  }
  void TearDown() override {
    for (const auto& [memory, bytes] : shared_) ::munmap(memory, bytes);
  }

  void be_a_rank(int rank, Storage& storage, std::uint64_t seed, int count, bool fills, Progress& progress) {
    NodeSegments segments(memory_, kSegment, count, kRanks + 1, rank);
    Counters counters;
    segments.attach(storage, counters, std::chrono::milliseconds(1), fills);
    for (int call = 0; call < kCalls; ++call) {
      const auto r = static_cast<std::size_t>(rank);
      progress.begun[r] = call + 1;
      const std::vector<Element> elements = elements_of(seed, rank, call);
      std::vector<forebay::Run> runs;
      std::vector<std::uint64_t> values;
      for (const Element& e : elements) {
        runs.push_back({kFirst + 8 * e.number, static_cast<std::int64_t>(8 * values.size()), 8});
        values.push_back(e.value);
      }
      test::RunListCursor cursor(runs);
      SlowSource source(values.data());
      if (!segments.put({&cursor, &source}).ok()) ::_exit(1);
      progress.done[r] = call + 1;
      if (call % 16 == 7 && !segments.drain_share().ok()) ::_exit(1);
    }
    ::_exit(0);
  }

  void run(std::uint64_t seed, bool& killed_within) {
    Dice dice(seed);
    const int count = static_cast<int>(3 + seed % 3 * 6);
    const bool fills = seed % 2 == 0;
    memory_ = share(NodeSegments::bytes_needed(kSegment, count, kRanks + 1));
    auto& progress = *static_cast<Progress*>(share(sizeof(Progress)));
    std::string path = "/tmp/segment_kills_XXXXXX";
    const int fd = ::mkstemp(path.data());
    ASSERT_GE(fd, 0);
    ::unlink(path.c_str());
    const auto storage = make_posix_storage(fd, path);
    NodeSegments segments(memory_, kSegment, count, kRanks + 1, kRanks);
    segments.initialize();
    std::array<pid_t, kRanks> children{};
    for (int r = 0; r < kRanks; ++r) {
      children[static_cast<std::size_t>(r)] = ::fork();
      if (children[static_cast<std::size_t>(r)] == 0) be_a_rank(r, *storage, seed, count, fills, progress);
    }
    while (progress.begun[0] < dice.between(1, kCalls / 2)) ::usleep(20);
    ::usleep(static_cast<useconds_t>(dice.below(200)));
    ::kill(children[0], SIGKILL);
    for (int r = 0; r < kRanks; ++r) {
      int status = 0;
      ::waitpid(children[static_cast<std::size_t>(r)], &status, 0);
      EXPECT_TRUE(r == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << "rank " << r;
    }
    Counters counters;
    segments.attach(*storage, counters, std::chrono::seconds(1), fills);
    ASSERT_TRUE(segments.drain().ok());
    killed_within = progress.begun[0] > progress.done[0];
    check(*storage, seed, progress);
    ::close(fd);
  }

  static void check(Storage& storage, std::uint64_t seed, const Progress& progress) {
    std::vector<std::vector<std::uint64_t>> allowed(static_cast<std::size_t>(kElements), {0});
    for (std::size_t r = 0; r < kRanks; ++r) {
      const int begun = progress.begun[r], done = progress.done[r];
      std::vector<char> touched(static_cast<std::size_t>(kElements), 0);  // by the call that was killed
      if (begun > done) {
        for (const Element& e : elements_of(seed, static_cast<int>(r), done))
          touched[static_cast<std::size_t>(e.number)] = 1;
      }
      for (int call = 0; call < begun; ++call) {
        for (const Element& e : elements_of(seed, static_cast<int>(r), call)) {
          const auto number = static_cast<std::size_t>(e.number);
          // What was kept is lost with what was half put over it.
          if (touched[number] == 0) allowed[number].clear();
          allowed[number].push_back(e.value);
        }
      }
    }
    for (std::int64_t e = 0; e < kElements; ++e) {
      std::uint64_t found = 0;
      ASSERT_TRUE(storage.read(kFirst + 8 * e, reinterpret_cast<std::byte*>(&found), 8).ok());
      // Of an element that an edge cuts and that was being put, each part counts by itself: the first one is
      // not waited with where the second has to wait for a segment.
      const auto& values = allowed[static_cast<std::size_t>(e)];
      const std::int64_t edge = std::min<std::int64_t>(8, kSegment - (kFirst + 8 * e) % kSegment);
      const std::uint64_t first =
          edge == 8 || values.size() == 1 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * edge) - 1;
      for (const std::uint64_t part : {first, ~first})
        ASSERT_TRUE(std::any_of(values.begin(), values.end(),
                                [&](std::uint64_t v) { return ((v ^ found) & part) == 0; }))
            << "element " << e;
    }
  }

  void* memory_ = nullptr;
  std::vector<std::pair<void*, std::size_t>> shared_;
};

TEST_F(SegmentKills, ElementsAreOldOrNew) {
  int within = 0;
  for (std::uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    bool killed_within = false;
    run(seed, killed_within);
    within += killed_within ? 1 : 0;
  }
  EXPECT_GT(within, 4);
}

}  // namespace
}  // namespace forebay
