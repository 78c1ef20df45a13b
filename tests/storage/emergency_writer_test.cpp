// What reaches the file when a process ends, by writes and by mapping.
#include "storage/emergency_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "request/memory_stream.hpp"

namespace forebay {
namespace {

class EmergencyWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = ::mkstemp(path_.data());
    ASSERT_GE(fd_, 0);
    stream_.resize(900'000);
    for (std::size_t i = 0; i < stream_.size(); ++i) stream_[i] = static_cast<char>(i * 7 + i / 251);
  }
  void TearDown() override {
    ::unlink(path_.c_str());
    ::close(fd_);
  }

  /// What the file is when these runs are in it.
  std::string expected(const std::vector<forebay::Run>& runs) const {
    std::string file;
    for (const forebay::Run& run : runs) {
      const auto end = static_cast<std::size_t>(run.file + run.length);
      if (file.size() < end) file.resize(end);
      file.replace(static_cast<std::size_t>(run.file), static_cast<std::size_t>(run.length), stream_,
                   static_cast<std::size_t>(run.stream), static_cast<std::size_t>(run.length));
    }
    return file;
  }
  std::string file() const {
    struct stat info{};
    ::fstat(fd_, &info);
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    EXPECT_EQ(::pread(fd_, bytes.data(), bytes.size(), 0), info.st_size);
    return bytes;
  }
  bool write(int fd, const std::vector<forebay::Run>& runs) {
    EmergencyWriter writer(fd);
    MemorySource source(stream_.data());
    for (const forebay::Run& run : runs) writer.add(run, source);
    return writer.finish();
  }

  // Neighbours, one over another, one longer than any buffer, and one apart.
  const std::vector<forebay::Run> runs_{
      {1000, 0, 8}, {1008, 8, 12}, {1004, 100, 4}, {5000, 200, 800'000}, {900'001, 40, 3}};
  std::string path_ = "/tmp/emergency_writer_XXXXXX";
  int fd_ = -1;
  std::string stream_;
};

TEST_F(EmergencyWriterTest, ByWrites) {
  EXPECT_TRUE(write(fd_, runs_));
  EXPECT_EQ(file(), expected(runs_));
}

TEST_F(EmergencyWriterTest, ByMapping) {
  struct Way {
    const std::vector<forebay::Run>& runs;
    const std::byte* stream;
  } way{runs_, reinterpret_cast<const std::byte*>(stream_.data())};
  const auto walk = [](void* context) {
    const auto& [runs, stream] = *static_cast<Way*>(context);
    for (const forebay::Run& run : runs) EmergencyWriter::copy(run, stream);
  };
  EXPECT_TRUE(EmergencyWriter(fd_).map({1000, 900'004}, walk, &way));
  EXPECT_EQ(file(), expected(runs_));
  const int reads_only = ::open(path_.c_str(), O_RDONLY);
  EXPECT_FALSE(EmergencyWriter(reads_only).map({1000, 900'004}, walk, &way));
  ::close(reads_only);
}

// A page of the range that is not there: a signal, as on a full disk.
TEST_F(EmergencyWriterTest, AMappingWithoutPagesFails) {
  const auto walk = [](void* context) {
    ASSERT_EQ(::ftruncate(*static_cast<int*>(context), 0), 0);
    const std::byte stream[8]{};
    EmergencyWriter::copy({1000, 0, 8}, stream);
  };
  EXPECT_FALSE(EmergencyWriter(fd_).map({1000, 1008}, walk, &fd_));
}

// A short write is followed by one that says why.
TEST_F(EmergencyWriterTest, AFileThatMayNotGrow) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{900'002, before.rlim_max};  // in the last run
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const bool well = write(fd_, runs_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(well);
  EXPECT_EQ(file(), expected(runs_).substr(0, 900'002));
}

TEST_F(EmergencyWriterTest, SaysSo) {
  testing::internal::CaptureStderr();
  say_not_written("a.nc");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "forebay: cannot write all that was put into a.nc as the program ended\n");
}

}  // namespace
}  // namespace forebay
