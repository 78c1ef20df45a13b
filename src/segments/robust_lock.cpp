// How a robust lock is made and waited for.
#include "segments/robust_lock.hpp"

#include <sched.h>

namespace forebay {

void RobustLock::initialize() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex_, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

// The holder copies some pieces: it needs the processor, not a message of the kernel's that wakes this rank
// later. A writer of a slow file is worth sleeping for.
int RobustLock::wait() {
  constexpr int most_yields = 200;
  for (int i = 0; i < most_yields; ++i) {
    const int result = pthread_mutex_trylock(&mutex_);
    if (result != EBUSY) return result;
    sched_yield();
  }
  return pthread_mutex_lock(&mutex_);
}

}  // namespace forebay
