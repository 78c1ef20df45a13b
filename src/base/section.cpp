// The list of threads, the gate between them, and signals that wait. All but the first entry of a thread is
// what a signal handler may do.
#include "base/section.hpp"

#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <new>

#include "base/waiting.hpp"

namespace forebay {
namespace {

// A launcher kills a tenth of a second to some seconds after SIGTERM.
constexpr auto kMostInSection = std::chrono::milliseconds(400);
constexpr auto kMostForOthers = std::chrono::milliseconds(1000);
constexpr auto kMostForAnother = std::chrono::milliseconds(3000);
// The process has ended by then, or goes on.
constexpr auto kMostAtGate = std::chrono::milliseconds(5000);

using Clock = std::chrono::steady_clock;

std::atomic<int> first_noted{0};
std::atomic<std::int64_t> noted_at{0};
std::atomic<void (*)(int)> on_leaving{nullptr};
std::atomic<int> closings{0};
std::atomic<bool> one_inside{false};

constexpr long kNap = 100'000;  // nanoseconds

template <class Done>
bool await(Done&& done, Clock::duration most) {
  const auto until = Clock::now() + most;
  while (!done()) {
    if (Clock::now() >= until) return false;
    sleep_for(kNap);
  }
  return true;
}

// After this, every thread sees what this one has stored, and what threads stored before they looked at the
// gate is seen here: a processor's store buffer empties within microseconds, and whenever its thread is
// stopped. membarrier(2) would say so, but a process with threads waits 10 ms until it may call it: too long
// in a first write, and longer than some launchers let a process live.
void let_stores_arrive() {
  for (int i = 0; i < 3; ++i) sleep_for(kNap);
}

}  // namespace

constinit thread_local Section::Thread* Section::self = nullptr;
constinit std::atomic<int> Section::gate{0};

std::atomic<Section::Thread*>& Section::threads() noexcept {
  static constinit std::atomic<Thread*> first{nullptr};
  return first;
}

// Entries are never freed, since somebody may be looking through them; one of a thread that ended is used
// again.
Section::Thread& Section::enlist() noexcept {
  static Thread crowd;  // without memory: threads that share it may be taken for each other
  static pthread_key_t key;
  static const bool keyed = ::pthread_key_create(&key, [](void* ended) {
                              auto* t = static_cast<Thread*>(ended);
                              t->depth = 0;
                              t->used = false;
                            }) == 0;
  Thread* found = nullptr;
  for (Thread* t = threads().load(); t != nullptr && found == nullptr; t = t->next) {
    bool used = false;
    if (t->used.compare_exchange_strong(used, true)) found = t;
  }
  if (found == nullptr) {
    found = new (std::nothrow) Thread;
    if (found == nullptr) return *(self = &crowd);
    found->next = threads().load();
    while (!threads().compare_exchange_weak(found->next, found)) {
    }
  }
  if (keyed) (void)::pthread_setspecific(key, found);
  return *(self = found);
}

void Section::wait_at_gate(Thread& t) noexcept {
  // Inside already: the others wait for this thread to come out.
  if (t.depth.load(std::memory_order_relaxed) > 1 || gate.load() == ::gettid()) return;
  for (;;) {
    t.depth.store(0, std::memory_order_release);
    const bool opened = await([] { return gate.load() == 0; }, kMostAtGate);
    t.depth.store(1, std::memory_order_seq_cst);
    if (!opened || gate.load() == 0) return;
  }
}

bool Section::note(int number, void (*handler)(int)) noexcept {
  const std::int64_t now = Clock::now().time_since_epoch().count();
  int none = 0;
  if (first_noted.compare_exchange_strong(none, number)) {
    noted_at = now;
    const itimerval timer{{}, {0, std::chrono::microseconds(kMostInSection).count()}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  } else if (self->noted.load() != 0 && Clock::duration(now - noted_at.load()) > kMostInSection * 3 / 4) {
    return false;
  }
  on_leaving = handler;
  self->noted = number;
  return true;
}

int Section::noted() noexcept {
  return first_noted.load();
}

void Section::handle_noted(Thread& t) noexcept {
  const int number = t.noted.exchange(0);
  if (void (*const handler)(int) = on_leaving.load(); number != 0 && handler != nullptr) handler(number);
}

bool Section::all_outside(const Thread* but) noexcept {
  for (const Thread* t = threads().load(); t != nullptr; t = t->next) {
    if (t != but && t->depth.load(std::memory_order_acquire) > 0) return false;
  }
  return true;
}

Section::Gate Section::close() noexcept {
  const int me = ::gettid();
  const auto take = [&] {
    int nobody = 0;
    return gate.compare_exchange_strong(nobody, me) || nobody == me;
  };
  if (!await(take, kMostForAnother)) return Gate::taken;
  closings.fetch_add(1);
  let_stores_arrive();
  one_inside = !await([] { return all_outside(self); }, kMostForOthers);
  return one_inside ? Gate::crowded : Gate::closed;
}

bool Section::crowded() noexcept {
  return one_inside;
}

void Section::open() noexcept {
  if (closings.fetch_sub(1) == 1) gate.store(0, std::memory_order_release);
}

}  // namespace forebay
