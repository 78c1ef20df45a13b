#include "base/waiting.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace forebay {

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

}  // namespace forebay
