// Ranks as processes, one of which is killed at any moment: what the others find.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "kill_tools.hpp"

namespace forebay {
namespace {

using namespace test;

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
    put_elements(segments, seed, rank, progress);
    ::_exit(0);
  }

  void run(std::uint64_t seed, bool& killed_within) {
    ::test::Dice dice(seed);
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
    check_elements(*storage, seed, progress);
    ::close(fd);
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
