// Names in /dev/shm that dead processes left.
#include "exchange/shared_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Left {
  Left(pid_t process, std::chrono::hours age)
      : path("/dev/shm/forebay-" + std::to_string(process) + "-test" + std::to_string(age.count())) {
    std::ofstream(path) << "left";
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  }
  ~Left() { fs::remove(path); }
  bool there() const { return fs::exists(path); }
  std::string path;
};

pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return child;
}

TEST(SharedMemory, left_behind_goes_once_it_is_old) {
  using std::chrono::hours;
  const pid_t dead = dead_process();
  const Left old(dead, hours(2)), fresh(dead, hours(0)), of_the_living(::getpid(), hours(2));
  forebay::remove_left_behind_memory();
  EXPECT_FALSE(old.there());
  EXPECT_TRUE(fresh.there());
  EXPECT_TRUE(of_the_living.there());
}

}  // namespace
