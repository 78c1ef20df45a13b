// Two files over one window, each with a thread on every rank: only one of them has the window at a time, and
// where ranks took it for different files, both learn of it and nobody waits for ever.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "exchange/node_lease.hpp"
#include "exchange/node_window.hpp"
#include "thread_tools.hpp"

namespace forebay {
namespace {

constexpr int kFiles = 2;

struct Zeroed {
  explicit Zeroed(std::size_t bytes) : memory((bytes + 255) / 128 * 128) {}
  void* at() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    return reinterpret_cast<void*>((address + 127) / 128 * 128);
  }
  std::vector<std::byte> memory;
};

// A file's ranks agree over a meeting of their own whether all have the window; those who do use it.
void run(int ranks, int calls, unsigned seed, int delay, bool expect_all) {
  Zeroed word(NodeLease::kBytes);
  std::vector<std::unique_ptr<Zeroed>> places;
  for (int f = 0; f < kFiles; ++f)
    places.push_back(std::make_unique<Zeroed>(NodeWindow::bytes_needed(ranks, 0)));
  std::vector<std::unique_ptr<NodeLease>> leases;  // a process's threads share one
  for (int r = 0; r < ranks; ++r) leases.push_back(std::make_unique<NodeLease>(word.at()));
  int user = -1;  // what the window is: no atomic, so that the sanitizer sees two at once
  std::array<std::atomic<int>, kFiles> served{};
  const auto rank_of_file = [&](int r, int f, std::mt19937& random, NodeWindow& meeting) {
    test::dawdle(random, delay);
    NodeLease& lease = *leases[static_cast<std::size_t>(r)];
    const bool in = lease.enter(static_cast<std::uint32_t>(f + 1), nullptr);
    std::int64_t all = in ? 0 : -1;
    meeting.agree({&all, 1});
    if (all == 0) {
      // Rank 0 writes, the others read, in two steps.
      if (r == 0) user = f;
      meeting.barrier();
      EXPECT_EQ(user, f);
      meeting.barrier();
      if (r == 0) ++served[static_cast<std::size_t>(f)];
    }
    if (in) lease.leave();
  };
  std::vector<std::thread> threads;
  if (expect_all) {  // one thread a rank, which has both files by turns
    for (int r = 0; r < ranks; ++r) {
      threads.emplace_back([&, r] {
        std::mt19937 random(seed + static_cast<unsigned>(r));
        std::vector<std::unique_ptr<NodeWindow>> views;
        for (int f = 0; f < kFiles; ++f)
          views.push_back(
              std::make_unique<NodeWindow>(places[static_cast<std::size_t>(f)]->at(), ranks, r, 0));
        for (int k = 0; k < calls; ++k)
          rank_of_file(r, k % kFiles, random, *views[static_cast<std::size_t>(k % kFiles)]);
      });
    }
  } else {
    for (int r = 0; r < ranks; ++r) {
      for (int f = 0; f < kFiles; ++f) {
        threads.emplace_back([&, r, f] {
          std::mt19937 random(seed + static_cast<unsigned>(r * kFiles + f));
          NodeWindow meeting(places[static_cast<std::size_t>(f)]->at(), ranks, r, 0);
          for (int k = 0; k < calls; ++k) rank_of_file(r, f, random, meeting);
        });
      }
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(NodeLease(word.at()).is_free());
  if (expect_all) {
    EXPECT_EQ(served[0] + served[1], calls);
  }
}

TEST(Lease, ThreadsWithAFileEach) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const int ranks : {1, 2, 3}) run(ranks, 60, 100 * seed, seed % 2 == 0 ? 200 : 0, false);
  }
}

TEST(Lease, OneThreadIsNeverRefused) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const int ranks : {1, 2, 4}) run(ranks, 60, 100 * seed, seed % 2 == 0 ? 200 : 0, true);
  }
}

}  // namespace
}  // namespace forebay
