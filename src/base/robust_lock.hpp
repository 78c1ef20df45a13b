// A lock in memory that processes share, which a process that dies leaves to the next one.
#pragma once

#include <pthread.h>

#include <cerrno>

#include "base/section.hpp"
#include "base/waiting.hpp"

namespace forebay {

/// A robust mutex; its holder is in a Section. After a death in there, whoever takes it next calls
/// `recover()` before anything else, and again the next one, should it die in that.
class RobustLock {
 public:
  /// Before anybody takes it.
  void initialize();

  template <class Recover>
  void take(Recover&& recover) {
    Section::enter();
    if (take_lock(mutex_) == EOWNERDEAD) repair(recover);
  }
  /// Without waiting; false: another one holds it.
  template <class Recover>
  bool try_take(Recover&& recover) {
    Section::enter();
    const int result = pthread_mutex_trylock(&mutex_);
    if (result == EOWNERDEAD) {
      repair(recover);
    } else if (result != 0) {
      Section::leave();
      return false;
    }
    return true;
  }
  void give() {
    pthread_mutex_unlock(&mutex_);
    Section::leave();
  }

 private:
  template <class Recover>
  void repair(Recover&& recover) {
    recover();
    pthread_mutex_consistent(&mutex_);
  }

  pthread_mutex_t mutex_;
};

}  // namespace forebay
