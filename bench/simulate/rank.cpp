// Time and waiting of simulated ranks, in the place of base/clock.cpp, base/waiting.cpp and request/work.cpp:
// who waits for a word is suspended until somebody wakes it.
#include "rank.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "request/work.hpp"

namespace forebay {
namespace simulate {
namespace {

namespace s4u = simgrid::s4u;

// Not suspended, which would hold up what it has sent, too.
using Bell = s4u::SemaphorePtr;
Bell make_bell() {
  return s4u::Semaphore::create(0);
}

using Sleepers = std::vector<Bell>;
std::unordered_map<const void*, Sleepers> sleeping;  // by word

/// Who waits for a condition that nobody says has come true: looked at whenever a rank of its node, which may
/// have made it so, leaves its coroutine.
struct Watcher {
  bool (*done)(void*);
  void* of;
  Bell bell;
};
std::unordered_map<int, std::vector<Watcher>> watching;  // by node

void wake_watchers(int node) {
  const auto found = watching.find(node);
  if (found == watching.end() || found->second.empty()) return;
  std::vector<Bell> awake;
  std::erase_if(found->second, [&](const Watcher& one) {
    if (!one.done(one.of)) return false;
    awake.push_back(one.bell);
    return true;
  });
  for (const Bell& bell : awake) bell->release();
}

}  // namespace

void say_deadlocks() {
  s4u::Engine::on_deadlock_cb([] {
    std::map<std::string, std::vector<int>> doing;
    for (const Rank* rank : Rank::all) {
      if (rank->doing != nullptr) doing[rank->doing].push_back(rank->number);
    }
    for (const auto& [what, ranks] : doing)
      std::fprintf(stderr, "simulate: no rank can go on: %zu are in %s, the first of them rank %d\n",
                   ranks.size(), what.c_str(), *std::ranges::min_element(ranks));
  });
}

Away::Away(const char* what) : what_(what) {
  leave();
}

void Away::leave() {
  state_ = std::exchange(thread_state, {});
  rank_ = std::exchange(running, nullptr);
  if (rank_ == nullptr) return;
  rank_->doing = what_;
  if (rank_->owed > 0) s4u::this_actor::sleep_for(std::exchange(rank_->owed, 0.0));
  wake_watchers(rank_->node);
}

void copy(std::int64_t pieces, std::int64_t bytes) {
  constexpr double least = 1e-6;
  work(static_cast<double>(pieces) * costs.piece + static_cast<double>(bytes) / costs.copy_rate);
  if (running != nullptr && running->owed > least) pass(0);
}

void Away::come_back() {
  thread_state = state_;
  running = rank_;
  if (rank_ != nullptr) rank_->doing = nullptr;
}

void pass(double seconds) {
  const Away away("work");
  if (seconds > 0) s4u::this_actor::sleep_for(seconds);
}

double clock() {
  return s4u::Engine::get_clock() + (running != nullptr ? running->owed : 0);
}

}  // namespace simulate

using namespace simulate;

std::chrono::steady_clock::time_point now() noexcept {
  using Clock = std::chrono::steady_clock;
  return Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(clock())));
}

void copied(std::span<const Run> runs) {
  std::int64_t bytes = 0;
  for (const Run& run : runs) bytes += run.length;
  copy(static_cast<std::int64_t>(runs.size()), bytes);
}

void copied(std::int64_t pieces, std::int64_t bytes) {
  copy(pieces, bytes);
}

void merged(std::int64_t bytes) {
  pass(static_cast<double>(bytes) / costs.merge_rate);
}

int take_lock(pthread_mutex_t& mutex) {
  for (;;) {
    const int result = pthread_mutex_trylock(&mutex);
    if (result != EBUSY) return result;
    yield();
  }
}

void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, long) {
  {
    const Away away("a wait for a word of shared memory");
    if (word.load() != seen) return;
    const Bell bell = make_bell();
    sleeping[&word].push_back(bell);
    bell->acquire();
  }
  work(costs.wake);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  const Away away("a wake-up of others");
  if (const auto found = sleeping.extract(&word)) {
    for (const Bell& bell : found.mapped()) bell->release();
  }
}

void sleep_for(long nanoseconds) {
  // The end of the process, after that of the simulation.
  if (running == nullptr) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
    return;
  }
  pass(static_cast<double>(nanoseconds) * 1e-9);
}

void sleep_until(bool (*done)(void*), void* of, long) {
  const int node = running->node;
  {
    const Away away("a wait for a condition in shared memory");
    if (done(of)) return;
    const Bell bell = make_bell();
    watching[node].push_back({done, of, bell});
    bell->acquire();
  }
  work(costs.wake);
}

void yield() {
  pass(costs.wake);
}

int yields_before_sleep() {
  return 0;
}

}  // namespace forebay
