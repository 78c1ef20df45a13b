#include "base/waiting.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace forebay {

// The holder copies some pieces: it needs the processor, not a message of the kernel's that wakes this rank
// later. A writer of a slow file is worth sleeping for.
int take_lock(pthread_mutex_t& mutex) {
  constexpr int most_yields = 200;
  for (int i = 0; i < most_yields; ++i) {
    const int result = pthread_mutex_trylock(&mutex);
    if (result != EBUSY) return result;
    yield();
  }
  return pthread_mutex_lock(&mutex);
}

void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, long nanoseconds) {
  const timespec limit{0, nanoseconds};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

void sleep_for(long nanoseconds) {
  const timespec time{0, nanoseconds};
  ::nanosleep(&time, nullptr);
}

void sleep_until(bool (*)(void*), void*, long nanoseconds) {
  sleep_for(nanoseconds);
}

void yield() {
  sched_yield();
}

int yields_before_sleep() {
  return 2000;
}

}  // namespace forebay
