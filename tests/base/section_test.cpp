// Signals wait for a section's end, and who ends the process waits for the sections of other threads.
#include "base/section.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace forebay {
namespace {

std::atomic<int> handled{0};
std::atomic<bool> went_on{false};

void handle_later(int number) {
  handled = number;
}

void handle(int number) {
  if (!Section::inside()) {
    handled = number;
  } else if (!Section::note(number, handle_later)) {
    went_on = true;
  }
}

class SectionTest : public testing::Test {
 protected:
  void SetUp() override {
    handled = 0;
    went_on = false;
    ::signal(SIGUSR1, handle);
    ::signal(SIGALRM, handle);
  }
};

TEST_F(SectionTest, ASignalIsHandledWhenTheLastSectionIsLeft) {
  {
    const Section outer;
    {
      const Section inner;
      ::raise(SIGUSR1);
      EXPECT_EQ(handled, 0);
    }
    EXPECT_EQ(handled, 0);
  }
  EXPECT_EQ(handled, SIGUSR1);
  handled = 0;
  ::raise(SIGUSR1);
  EXPECT_EQ(handled, SIGUSR1);
}

// The timer of the first note may be that of the test before.
TEST_F(SectionTest, AStuckSectionIsNotWaitedForForEver) {
  const Section section;
  ::raise(SIGUSR1);
  for (int i = 0; i < 300 && !went_on; ++i) {
    ::raise(SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(went_on);
  EXPECT_EQ(Section::noted(), SIGUSR1);
}

TEST_F(SectionTest, WhoClosesTheGateWaitsForOthersAndKeepsThemOut) {
  std::atomic<int> at{0};
  std::atomic<bool> go{false};
  std::thread other([&] {
    // Such threads block all signals.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    {
      const Section section;
      at = 1;
      while (!go) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      at = 2;
    }
    const Section next;
    at = 3;
  });
  while (at != 1) std::this_thread::yield();
  go = true;
  EXPECT_EQ(Section::close(), Section::Gate::closed);
  EXPECT_EQ(at, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(at, 2);
  {
    const Section mine;  // the thread itself goes in and out
  }
  Section::open();
  other.join();
  EXPECT_EQ(at, 3);
}

TEST_F(SectionTest, WhoStaysInsideIsSaidToBe) {
  std::atomic<int> at{0};
  std::thread other([&] {
    const Section section;
    at = 1;
    while (at != 2) std::this_thread::yield();
  });
  while (at != 1) std::this_thread::yield();
  EXPECT_EQ(Section::close(), Section::Gate::crowded);
  EXPECT_TRUE(Section::crowded());
  Section::open();
  at = 2;
  other.join();
  EXPECT_EQ(Section::close(), Section::Gate::closed);  // threads that have ended are in no section
  EXPECT_FALSE(Section::crowded());
  Section::open();
}

}  // namespace
}  // namespace forebay
