// How a thread waits for other ranks: it yields, then sleeps, and now and then does what others need of it.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>

#include "base/clock.hpp"

namespace forebay {

struct Waiting {
  /// Called again and again, for progress that others need of this rank: messages that it sent before and
  /// that have not quite left, without which they would never arrive here. Null: none.
  void (*idle)() = nullptr;
  /// Called now and then in a long wait, with the seconds so far: it may want to say for whom. Null: none.
  void (*waited)(double seconds) noexcept = nullptr;
  /// Counted in here while somebody sleeps on a word, so that whoever changes one need not wake nobody.
  std::atomic<std::uint32_t>* sleepers = nullptr;
};

/// Takes a lock that another rank seems to have; as pthread_mutex_lock.
int take_lock(pthread_mutex_t& mutex);
/// Sleeps until `word` is no longer `seen`, somebody wakes it, or some time has passed (futex(2)).
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, long nanoseconds);
void wake_all(std::atomic<std::uint32_t>& word);
/// A signal handler may do so, too.
void sleep_for(long nanoseconds);
/// The same, or shorter where whoever makes `done(of)` true is known to wake this.
void sleep_until(bool (*done)(void* of), void* of, long nanoseconds);
/// Whoever else has work on this core goes first.
void yield();

/// Yielding hands the core to a rank that has work, and costs a third of a sleep and wake-up (75 µs against
/// 200 µs a flush of three barriers, 4 ranks on 2 cores); only a long wait, for a slow file system or
/// network, is worth a sleep. 0: a sleep costs no more than a yield.
int yields_before_sleep();

/// Until `done` says so of the word, which whoever changes it changes before he looks for sleepers.
template <class Done>
void wait_on(std::atomic<std::uint32_t>& word, const Waiting& waiting, Done&& done) {
  for (int i = yields_before_sleep(); i > 0; --i) {
    if (done(word.load(std::memory_order_acquire))) return;
    if (waiting.idle != nullptr) waiting.idle();
    yield();
  }
  // With a time limit: whoever has to make progress for others looks up often, and nobody sleeps for good.
  const long nap = waiting.idle != nullptr ? 500'000 : 20'000'000;
  const auto begun = now();
  if (waiting.sleepers != nullptr) waiting.sleepers->fetch_add(1, std::memory_order_seq_cst);
  for (std::uint32_t seen; !done(seen = word.load(std::memory_order_seq_cst));) {
    sleep_on(word, seen, nap);
    if (waiting.idle != nullptr) waiting.idle();
    if (waiting.waited != nullptr) waiting.waited(std::chrono::duration<double>(now() - begun).count());
  }
  if (waiting.sleepers != nullptr) waiting.sleepers->fetch_sub(1, std::memory_order_relaxed);
}

/// Until `done()`, which may itself make progress: where there is no word to sleep on. `yields`: so often
/// before the first nap of `nap` nanoseconds; 0: no naps, only yields.
template <class Done>
void poll_until(const Waiting& waiting, int spins, int yields, long nap, Done&& done) {
  constexpr int per_look = 64;
  yields = std::min(yields, yields_before_sleep());
  std::chrono::steady_clock::time_point begun;
  for (int tries = 0; !done(); ++tries) {
    if (tries < spins) continue;
    if (tries == spins) begun = now();
    if (waiting.idle != nullptr) waiting.idle();
    const bool naps = nap > 0 && tries >= spins + yields;
    if (naps)
      sleep_until([](void* of) -> bool { return (*static_cast<std::remove_reference_t<Done>*>(of))(); },
                  &done, nap);
    else
      yield();
    if (waiting.waited != nullptr && (naps || tries % per_look == 0))
      waiting.waited(std::chrono::duration<double>(now() - begun).count());
  }
}

}  // namespace forebay
