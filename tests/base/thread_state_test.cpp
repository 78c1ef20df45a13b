// Ranks that are coroutines of one thread: what each is in the middle of comes and goes with it.
#include "base/thread_state.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "base/counters.hpp"
#include "base/per_process.hpp"

namespace forebay {
namespace {

struct Number {
  int value = 0;
};

// Two ranks by turns, on this thread.
class Rank {
 public:
  template <class Work>
  void run(Work&& work) {
    const ThreadState outer = std::exchange(thread_state, state_);
    work();
    state_ = std::exchange(thread_state, outer);
  }

 private:
  ThreadState state_;
};

TEST(ThreadState, EachRankHasTheStateOfAProcess) {
  Rank a, b;
  std::optional<PretendProcess> process_a, process_b;
  a.run([&] { process_a.emplace(); });
  b.run([&] { process_b.emplace(); });
  a.run([] { per_process<Number>().value = 1; });
  b.run([] { EXPECT_EQ(per_process<Number>().value, 0); });
  b.run([] { per_process<Number>().value = 2; });
  a.run([] { EXPECT_EQ(per_process<Number>().value, 1); });
  EXPECT_EQ(per_process<Number>().value, 0);
  b.run([&] { process_b.reset(); });
  a.run([] { EXPECT_EQ(per_process<Number>().value, 1); });
  a.run([&] { process_a.reset(); });
}

// A stage that lasts while other ranks run has only the time of timers that are within it.
TEST(ThreadState, StagesOfOneRankAreNotWithinThoseOfAnother) {
  Rank a, b;
  Counters of_a, of_b;
  std::optional<StageTimer> outer;
  a.run([&] { outer.emplace(of_a, Stage::write); });
  b.run([&] {
    const StageTimer timer(of_b, Stage::read);
    const auto begin = now();
    while (now() - begin < std::chrono::milliseconds(2)) {
    }
  });
  a.run([&] { outer.reset(); });
  EXPECT_GE(of_a.seconds[static_cast<std::size_t>(Stage::write)], 0.002);
  EXPECT_GE(of_b.seconds[static_cast<std::size_t>(Stage::read)], 0.002);
}

}  // namespace
}  // namespace forebay
