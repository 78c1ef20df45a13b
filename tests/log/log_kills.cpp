// Ranks that are killed at random moments, SIGKILL, in the middle of appends and drains: what an append that
// returned has put is in the file after a recovery, and the others are not held up.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "../dice.hpp"
#include "log_tools.hpp"

namespace test {
namespace {

constexpr int kRanks = 3;
constexpr std::int64_t kBlock = 5'000, kBlocks = 200;

// What each rank has put, in memory that outlives it.
struct Promised {
  std::atomic<int> round[kRanks][kBlocks];
};

[[noreturn]] void work(const LoggedFile& logged, int rank, Promised& promised, std::uint64_t seed) {
  const auto log = logged.rank(rank);
  Dice dice(seed + static_cast<std::uint64_t>(rank));
  std::vector<std::byte> data(kBlock);
  for (int round = 1;; ++round) {
    const std::int64_t block = dice.below(kBlocks);
    std::fill(data.begin(), data.end(), static_cast<std::byte>(round));
    const Piece piece{(block * kRanks + rank) * kBlock, data.data(), kBlock};
    if (!log->append({&piece, 1}, *logged.below).ok()) ::_exit(1);
    promised.round[rank][block].store(round);
    bool blocked = false;
    if (dice.one_in(20) && !log->drain(*logged.below, 100'000, blocked).ok()) ::_exit(1);
  }
}

TEST(Kills, lose_nothing_that_was_appended) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LoggedFile logged(1 << 20);
    void* const at =
        ::mmap(nullptr, sizeof(Promised), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    auto& promised = *new (at) Promised{};
    std::vector<pid_t> ranks;
    for (int r = 0; r < kRanks; ++r) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) work(logged, r, promised, seed * 100);
      ranks.push_back(child);
    }
    Dice dice(seed);
    for (const pid_t rank : ranks) {
      std::this_thread::sleep_for(std::chrono::microseconds(dice.between(500, 20'000)));
      ::kill(rank, SIGKILL);
      int how = 0;
      ASSERT_EQ(::waitpid(rank, &how, 0), rank);
      ASSERT_TRUE(WIFSIGNALED(how)) << "a rank could not append";
    }
    Recovered recovered;
    const Status status = recover(logged.log_name, false, recovered);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_LE(recovered.torn, kRanks);
    const auto file = logged.content(kRanks * kBlocks * kBlock);
    for (int r = 0; r < kRanks; ++r) {
      for (std::int64_t b = 0; b < kBlocks; ++b) {
        const int round = promised.round[r][b].load();
        const std::byte* const found = file.data() + (b * kRanks + r) * kBlock;
        // The next append may have been whole when its rank was killed.
        const bool next = *found != static_cast<std::byte>(round);
        for (std::int64_t i = 0; i < kBlock; ++i)
          ASSERT_EQ(found[i], *found) << "rank " << r << ", block " << b;
        if (next) {
          int last = 0;
          for (const auto& each : promised.round[r]) last = std::max(last, each.load());
          ASSERT_EQ(*found, static_cast<std::byte>(last + 1))
              << "rank " << r << ", block " << b << ", put " << round;
        }
      }
    }
    ::munmap(at, sizeof(Promised));
  }
}

}  // namespace
}  // namespace test
