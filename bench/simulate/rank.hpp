// The rank whose coroutine runs now, and what its processor's work costs. Time passes only where a rank
// leaves its coroutine: it owes the seconds of its work until then.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/thread_state.hpp"

namespace forebay::simulate {

/// Of the processor and of the node's memory; seconds, and bytes a second.
struct Costs {
  double piece = 3e-9;  ///< for each piece that is copied
  double copy_rate = 2e9;
  double merge_rate = 4e9;  ///< of marks, which one rank reads of all
  double wake = 1e-6;       ///< from a change in shared memory to whoever waits for it
};
inline Costs costs;

struct Rank {
  Rank() { all.push_back(this); }
  ~Rank() { std::erase(all, this); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  static inline std::vector<Rank*> all;
  int number = 0;
  int node = 0;
  double owed = 0;              ///< seconds
  const char* doing = nullptr;  ///< while it has left its coroutine
};
inline Rank* running = nullptr;

/// The running rank has worked so long, on what no other rank sees.
inline void work(double seconds) {
  if (running != nullptr) running->owed += seconds;
}
/// It has copied; where that is not next to nothing the time passes now, before others see what was done.
void copy(std::int64_t pieces, std::int64_t bytes);

/// While it lives, other ranks may run: it takes along what this one is in the middle of. At its begin the
/// time passes that the rank owes.
class Away {
 public:
  explicit Away(const char* what);
  ~Away() { come_back(); }
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;

  /// Runs `work` as this rank, and lets the time pass that it takes.
  template <class Work>
  decltype(auto) back(Work&& work) {
    struct Again {
      explicit Again(Away& of) : away(of) { away.come_back(); }
      ~Again() { away.leave(); }
      Away& away;
    } const again(*this);
    return work();
  }

 private:
  void leave();
  void come_back();

  const char* what_;
  ThreadState state_;
  Rank* rank_ = nullptr;
};

/// What work() gives, done while others may run. `what`: for whoever asks why nothing goes on.
template <class Work>
decltype(auto) away(const char* what, Work&& work) {
  const Away gone(what);
  return work();
}

/// Once: where no rank can go on any more, it is said what they wait for.
void say_deadlocks();

/// Lets that time pass.
void pass(double seconds);
double clock();

}  // namespace forebay::simulate
