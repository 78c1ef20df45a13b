// Ranks as processes, and the real keeper process: whatever is killed, what a returned put promised is in the
// file, and nothing is left behind.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../segments/kill_tools.hpp"
#include "keeper/connection.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Who dies, and how.
enum class Way { one_rank, all_ranks, the_keeper_is_told_to_end, a_child_lives_on, nobody, count };

/// The keepers that one of these processes started.
std::vector<pid_t> keepers_of(const std::vector<pid_t>& starters) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string program, starter;
    if (std::getline(file, program, '\0') && std::getline(file, starter, '\0') &&
        program == FOREBAY_KEEPER_BUILT &&
        std::ranges::find(starters, std::atoi(starter.c_str())) != starters.end())
      found.push_back(std::atoi(entry.path().filename().c_str()));
  }
  return found;
}

bool soon(const auto& happens) {
  for (int i = 0; i < 1000; ++i) {
    if (happens()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class KeeperKills : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("FOREBAY_KEEPER_PROGRAM", FOREBAY_KEEPER_BUILT, 1);
    // A name for each test: of a process that ends, /proc knows no program any more while its socket still
    // listens, so that the next test would be connected to the last one's keeper.
    static int tests = 0;
    const std::string name = "keeper_kills " + std::to_string(::getpid()) + " " + std::to_string(++tests);
    ::setenv("FOREBAY_KEEPER", name.c_str(), 1);
  }

  struct Shared {
    Progress progress;
    std::atomic<int> connected;
  };

  [[noreturn]] static void be_a_rank(int rank, Way way, int memory, int file, std::uint64_t seed, int count,
                                     Shared& shared) {
    void* const at = ::mmap(nullptr, NodeSegments::bytes_needed(kSegment, count, kRanks),
                            PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    NodeSegments segments(at, kSegment, count, kRanks, rank);
    // One starts it, whoever comes first.
    if (connect_keeper(KeeperUse::start) == 0) ::_exit(2);
    KeptMemory kept;
    if (rank == 0) {
      segments.initialize();
      segments.serve(seed);
      kept = KeptMemory(memory, kSegment, count, kRanks);
      if (!kept.serves(seed, file, false, "keeper_kills")) ::_exit(3);
      if (!soon([&] { return segments.is_acknowledged(); })) ::_exit(4);  // nothing is kept before
    }
    ++shared.connected;
    while (shared.connected < kRanks) ::usleep(100);
    if (way == Way::a_child_lives_on && rank == 1 && ::fork() == 0) {
      std::this_thread::sleep_for(2s);
      ::_exit(0);
    }
    const auto storage = make_posix_storage(file, "keeper_kills");
    Counters counters;
    segments.attach(*storage, counters, 1ms);
    put_elements(segments, seed, rank, shared.progress);
    ::_exit(0);  // what is kept stays so
  }

  void run(std::uint64_t seed, Way way) {
    ::test::Dice dice(seed);
    ::setenv("FOREBAY_KEEPER",
             ("keeper_kills " + std::to_string(::getpid()) + " " + std::to_string(seed)).c_str(), 1);
    const int count = static_cast<int>(3 + seed % 3 * 6);
    const std::size_t bytes = NodeSegments::bytes_needed(kSegment, count, kRanks);
    const int memory = ::memfd_create("keeper_kills", MFD_CLOEXEC);
    ASSERT_EQ(::ftruncate(memory, static_cast<off_t>(bytes)), 0);
    auto& shared = *static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::string path = "/tmp/keeper_kills_XXXXXX";
    const int file = ::mkstemp(path.data());
    ASSERT_GE(file, 0);
    ::unlink(path.c_str());
    std::vector<pid_t> ranks(kRanks);
    for (int r = 0; r < kRanks; ++r) {
      if ((ranks[static_cast<std::size_t>(r)] = ::fork()) == 0)
        be_a_rank(r, way, memory, file, seed, count, shared);
    }
    ASSERT_TRUE(soon([&] { return shared.connected == kRanks; }));
    const int until = dice.between(1, kCalls / 2);
    while (shared.progress.begun[0] < until) ::usleep(20);
    ::usleep(static_cast<useconds_t>(dice.below(200)));
    if (way == Way::the_keeper_is_told_to_end) {
      for (const pid_t keeper : keepers_of(ranks)) ::kill(keeper, SIGTERM);
      ::usleep(static_cast<useconds_t>(dice.below(3000)));
    }
    const int killed = way == Way::nobody ? 0 : way == Way::one_rank ? 1 : kRanks;
    for (int r = 0; r < killed; ++r) ::kill(ranks[static_cast<std::size_t>(r)], SIGKILL);
    for (int r = 0; r < kRanks; ++r) {
      int status = 0;
      ::waitpid(ranks[static_cast<std::size_t>(r)], &status, 0);
      EXPECT_TRUE(r < killed || status == 0) << "rank " << r << ": " << status;
    }
    // The job is over; so is the keeper.
    EXPECT_TRUE(soon([&] { return keepers_of(ranks).empty(); }));
    check_elements(*make_posix_storage(file, path), seed, shared.progress);
    ::munmap(&shared, sizeof shared);
    ::close(memory);
    ::close(file);
  }
};

// Nothing is kept of a file for which the keeper has no descriptor left, and it sleeps all the same.
TEST_F(KeeperKills, WhatItCannotTakeIsNotAcknowledged) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit few{24, 24};
    ::setrlimit(RLIMIT_NOFILE, &few);
    if (connect_keeper(KeeperUse::start) == 0) ::_exit(2);
    const std::size_t bytes = NodeSegments::bytes_needed(kSegment, 3, 1);
    std::vector<KeptMemory> kept;
    std::vector<std::unique_ptr<NodeSegments>> all;
    const int file = ::memfd_create("file", MFD_CLOEXEC);
    for (std::uint64_t i = 1; i <= 40; ++i) {
      const int memory = ::memfd_create("keeper_kills", MFD_CLOEXEC);
      if (::ftruncate(memory, static_cast<off_t>(bytes)) != 0) ::_exit(3);
      void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
      all.push_back(std::make_unique<NodeSegments>(at, kSegment, 3, 1, 0));
      all.back()->initialize();
      all.back()->serve(i);
      kept.emplace_back(memory, kSegment, 3, 1);
      if (!kept.back().serves(i, file, false, "few")) ::_exit(4);
      ::close(memory);
    }
    const auto taken = [&] {
      return std::ranges::count_if(all, [](const auto& s) { return s->is_acknowledged(); });
    };
    if (!soon([&] { return taken() > 3; })) ::_exit(5);
    std::this_thread::sleep_for(300ms);
    ::_exit(taken() < 40 && all.front()->is_acknowledged() && !all.back()->is_acknowledged() ? 0 : 6);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(soon([&] { return keepers_of({child}).empty(); }));
}

// A program that closes what it does not know goes on with its level 1, which is written when it has ended.
TEST_F(KeeperKills, ALevel1IsItsOwnersAsLongAsItLives) {
  constexpr std::int64_t unit = 4096;
  const std::size_t bytes = NodeSegments::bytes_needed(unit, 3, 1, true);
  const int memory = ::memfd_create("keeper_kills", MFD_CLOEXEC);
  const int file = ::memfd_create("file", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(memory, static_cast<off_t>(bytes)), 0);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  NodeSegments segments(at, unit, 3, 1, 0, true);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::uint64_t connection = connect_keeper(KeeperUse::start);
    if (connection == 0) ::_exit(2);
    segments.initialize();
    segments.serve(1);
    KeptMemory kept(memory, unit, 3, 1, true);
    if (!kept.serves(1, file, false, "level1") || !soon([&] { return segments.is_acknowledged(); }))
      ::_exit(3);
    announce_level1(segments.number(), 0);
    if (!soon([&] { return segments.level1_is_acknowledged(); })) ::_exit(4);
    Level1 level1(unit);
    level1.lie_in(segments.level1());
    level1.align(2 * unit);
    level1.copy(2 * unit + 10, "first", 5);
    for (int i = 3; i < 64; ++i) ::close(i);
    if (keeper_lives(connection)) ::_exit(5);
    std::this_thread::sleep_for(300ms);
    level1.copy(2 * unit + 20, "second", 6);
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_TRUE(soon([&] { return keepers_of({child}).empty(); }));
  std::array<char, 16> got{};
  EXPECT_EQ(::pread(file, got.data(), got.size(), 2 * unit + 10), 16);
  EXPECT_EQ(std::string(got.data(), got.size()), std::string("first\0\0\0\0\0second", 16));
  ::munmap(at, bytes);
  ::close(memory);
  ::close(file);
}

// A keeper that has files of several nodes would wait for itself.
TEST_F(KeeperKills, ALockOfTheFileEndsWithItsRank) {
  const int file = ::memfd_create("file", MFD_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) {
    if (connect_keeper(KeeperUse::start) == 0) ::_exit(2);
    const pid_t rank = ::fork();
    if (rank == 0) {
      if (connect_keeper(KeeperUse::start) == 0) ::_exit(3);
      const std::size_t bytes = NodeSegments::bytes_needed(kSegment, 3, 1);
      const int memory = ::memfd_create("keeper_kills", MFD_CLOEXEC);
      if (::ftruncate(memory, static_cast<off_t>(bytes)) != 0) ::_exit(4);
      void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
      NodeSegments segments(at, kSegment, 3, 1, 0);
      segments.initialize();
      segments.serve(1);
      const int own = ::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDWR | O_CLOEXEC);
      const KeptMemory kept(memory, kSegment, 3, 1);
      if (!kept.serves(1, own, true, "locked") || !soon([&] { return segments.is_acknowledged(); }))
        ::_exit(5);
      const FileLock lock(own, 0, kSegment);
      if (lock.held()) ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(rank, &status, 0);
    if (!WIFSIGNALED(status)) ::_exit(6);
    ::_exit(soon([&] { return FileLock(file, 0, kSegment, [] { return false; }).held(); }) ? 0 : 7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(soon([&] { return keepers_of({child}).empty(); }));
  ::close(file);
}

// Whoever has handed memory to the one that is gone must not take the next one for it.
TEST_F(KeeperKills, TheNextKeeperIsAnother) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::uint64_t first = connect_keeper(KeeperUse::start);
    if (first == 0 || !keeper_lives(first)) ::_exit(2);
    const std::size_t bytes = NodeSegments::bytes_needed(kSegment, 3, 1);
    const int memory = ::memfd_create("keeper_kills", MFD_CLOEXEC);
    if (::ftruncate(memory, static_cast<off_t>(bytes)) != 0) ::_exit(3);
    const KeptMemory kept(memory, kSegment, 3, 1);
    if (!kept.is_held()) ::_exit(4);
    for (const pid_t keeper : keepers_of({::getpid()})) ::kill(keeper, SIGKILL);
    if (!soon([&] { return !keeper_lives(first); })) ::_exit(5);
    const std::uint64_t second = connect_keeper(KeeperUse::start);
    if (second == 0 || second == first || !keeper_lives(second)) ::_exit(6);
    ::_exit(keeper_lives(first) || kept.is_held() ? 7 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(soon([&] { return keepers_of({child}).empty(); }));
}

TEST_F(KeeperKills, WhatWasPutIsInTheFile) {
  const char* const more = std::getenv("FOREBAY_TEST_KILLS");
  const std::uint64_t kills = more != nullptr ? std::strtoull(more, nullptr, 10) : 40;
  for (std::uint64_t seed = 1; seed <= kills && !HasFailure(); ++seed) {
    const auto way = static_cast<Way>(seed % static_cast<std::uint64_t>(Way::count));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", way " + std::to_string(static_cast<int>(way)));
    run(seed, way);
  }
}

}  // namespace
}  // namespace forebay
