// Marks of file objects: in one process they are counted, of others the locks are seen.
#include "storage/open_mark.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>

namespace forebay {
namespace {

bool alone(const OpenMark& mark) {
  return OpenMark::Alone(mark).certain();
}

FileId any_file() {
  return {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(OpenMark::any_number())};
}

TEST(OpenMarks, OneObjectIsAlone) {
  OpenMark mark;
  EXPECT_FALSE(alone(mark));
  const FileId file = any_file();
  mark.leave(file, 5);
  EXPECT_TRUE(alone(mark));
  mark.leave(file, 5);
  EXPECT_TRUE(alone(mark));
  mark.release();
  EXPECT_FALSE(alone(mark));
}

TEST(OpenMarks, AnotherOfTheProcessIsSeenWhileItIsOpen) {
  const FileId file = any_file();
  OpenMark mark, elsewhere;
  mark.leave(file, 5);
  elsewhere.leave(any_file(), 6);
  EXPECT_TRUE(alone(mark));
  {
    OpenMark second;
    second.leave(file, 6);
    EXPECT_FALSE(alone(mark));
    EXPECT_FALSE(alone(second));
  }
  EXPECT_TRUE(alone(mark));
}

/// Whether a process that leaves mark 5 on a file is alone there while another has left mark `number`.
bool alone_beside(std::int64_t number) {
  const FileId file = any_file();
  int ready[2] = {-1, -1};
  if (::pipe(ready) != 0) return false;
  const pid_t other = ::fork();
  if (other == 0) {
    OpenMark mark;
    mark.leave(file, number);
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  const bool told = ::read(ready[0], &byte, 1) == 1;
  const pid_t one = ::fork();
  if (one == 0) {
    OpenMark mark;
    mark.leave(file, 5);
    ::_exit(told && alone(mark) ? 0 : 1);
  }
  int status = 1;
  ::waitpid(one, &status, 0);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  return status == 0;
}

}  // namespace
}  // namespace forebay

// Processes begin before this one has left any mark: later ones would share its description.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  bool right = forebay::alone_beside(5);  // the same object's
  for (const std::int64_t number :
       {std::int64_t{1}, std::int64_t{4}, std::int64_t{6}, forebay::OpenMark::any_number()})
    right = !forebay::alone_beside(number) && right;
  if (!right) std::puts("objects of other processes are not seen as they are");
  return RUN_ALL_TESTS() == 0 && right ? 0 : 1;
}
