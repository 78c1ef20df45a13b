// Marks of file objects in one process: locks belong to open file descriptions, so that it is enough.
#include "storage/open_mark.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace forebay {
namespace {

class Object {
 public:
  Object(const std::string& path, std::int64_t number, int ranks = 1) {
    for (int r = 0; r < ranks; ++r) {
      descriptors[r] = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      marks[r].set(descriptors[r], number, r == 0);
    }
  }
  ~Object() {
    for (const int one : descriptors)
      if (one >= 0) ::close(one);
  }
  bool alone(int rank = 0) const { return OpenMark::Alone(marks[rank]).certain(); }

  int descriptors[2] = {-1, -1};
  OpenMark marks[2];
};

class OpenMarks : public ::testing::Test {
 protected:
  OpenMarks() : path_(::testing::TempDir() + "open_mark." + std::to_string(::getpid())) {}
  ~OpenMarks() override { ::unlink(path_.c_str()); }
  std::string path_;
};

TEST_F(OpenMarks, OneObjectIsAloneOnAllItsRanks) {
  const Object one(path_, 5, 2);
  EXPECT_TRUE(one.alone(0));
  EXPECT_TRUE(one.alone(1));
}

TEST_F(OpenMarks, AnotherIsSeenWhileItIsOpen) {
  const Object one(path_, 5, 2);
  for (const std::int64_t number :
       {std::int64_t{1}, std::int64_t{4}, std::int64_t{6}, OpenMark::any_number()}) {
    const Object two(path_, number);
    EXPECT_FALSE(one.alone(0)) << number;
    EXPECT_FALSE(one.alone(1)) << number;
    EXPECT_FALSE(two.alone()) << number;
  }
  EXPECT_TRUE(one.alone(0));
  EXPECT_TRUE(one.alone(1));
}

TEST_F(OpenMarks, OneOfTheSameNumberIsSeen) {
  const Object one(path_, 5), two(path_, 5);
  EXPECT_FALSE(one.alone());
  EXPECT_FALSE(two.alone());
}

TEST_F(OpenMarks, NothingIsCertainWithoutTheMark) {
  const Object one(path_, 5, 2);
  ::close(one.descriptors[0]);
  EXPECT_FALSE(one.alone(1));
  const OpenMark none;
  EXPECT_FALSE(OpenMark::Alone(none).certain());
  const_cast<Object&>(one).descriptors[0] = -1;
}

TEST_F(OpenMarks, WhoeverComesWaitsForABlock) {
  const Object one(path_, 5);
  std::atomic<bool> opened{false};
  std::thread other;
  {
    const OpenMark::Alone alone(one.marks[0]);
    EXPECT_TRUE(alone.certain());
    other = std::thread([&] {
      const Object two(path_, 7);
      opened = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(opened);
  }
  other.join();
  EXPECT_TRUE(opened);
}

}  // namespace
}  // namespace forebay
