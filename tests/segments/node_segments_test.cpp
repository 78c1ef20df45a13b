// What becomes of segments when a rank dies in the middle of them, or is told to end there.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "request/memory_stream.hpp"
#include "request/strided.hpp"
#include "segments/node_segments.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kBytes = 4096;
constexpr int kCount = 4;

/// Produces half of what is wanted, then ends the process or lets it run into a signal handler.
class DyingSource final : public Source {
 public:
  explicit DyingSource(void (*end)()) : end_(end) {}
  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
    std::memset(destination + (runs[0].file - origin), 7, static_cast<std::size_t>(runs[0].length / 2));
    end_();
  }

 private:
  void (*end_)();
};

class NodeSegmentsTest : public testing::Test {
 protected:
  void SetUp() override {
    bytes_ = NodeSegments::bytes_needed(kBytes, kCount, 2);
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    fd_ = ::mkstemp(path_.data());
    ASSERT_GE(fd_, 0);
    storage_ = make_posix_storage(fd_, path_);
    segments_ = std::make_unique<NodeSegments>(memory_, kBytes, kCount, 2, 0);
    segments_->initialize();
    segments_->attach(*storage_, counters_, std::chrono::seconds(100));
  }
  void TearDown() override {
    ::unlink(path_.c_str());
    ::close(fd_);
    ::munmap(memory_, bytes_);
  }

  Status put(std::int64_t at, std::int64_t length, int value) {
    const std::vector<std::byte> data(static_cast<std::size_t>(length), static_cast<std::byte>(value));
    StridedCursor cursor(at, 0, length, {});
    MemorySource source(data.data());
    return segments_->put({&cursor, &source});
  }
  std::vector<int> file(std::int64_t at, std::int64_t length) {
    std::vector<unsigned char> got(static_cast<std::size_t>(length), 0xee);
    const ssize_t n = ::pread(fd_, got.data(), got.size(), at);
    got.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return {got.begin(), got.end()};
  }

  /// Another rank of the node.
  template <class F>
  int in_child(F&& f) {
    const pid_t child = ::fork();
    if (child == 0) {
      segments_ = std::make_unique<NodeSegments>(memory_, kBytes, kCount, 2, 1);
      segments_->attach(*storage_, counters_, std::chrono::seconds(100));
      f();
      ::_exit(99);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  std::string path_ = "/tmp/node_segments_XXXXXX";
  int fd_ = -1;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Counters counters_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<NodeSegments> segments_;
};

TEST_F(NodeSegmentsTest, ADeadRankLeavesItsLock) {
  ASSERT_TRUE(put(0, 10, 1).ok());
  const int status = in_child([&] {
    StridedCursor cursor(100, 0, 1000, {});
    DyingSource source([] { ::_exit(3); });
    (void)segments_->put({&cursor, &source});
  });
  ASSERT_EQ(WEXITSTATUS(status), 3);
  ASSERT_TRUE(put(20, 10, 2).ok());
  EXPECT_EQ(segments_->kept(), 20);
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(segments_->kept(), 0);
  EXPECT_EQ(file(0, 10), std::vector<int>(10, 1));
  EXPECT_EQ(file(20, 100), std::vector<int>(10, 2));  // nothing of what was half put
}

// What it was copying over older bytes leaves these.
TEST_F(NodeSegmentsTest, WhatADeadRankWasChangingIsAsItWas) {
  ASSERT_TRUE(put(90, 420, 1).ok());
  in_child([&] {
    StridedCursor cursor(100, 0, 400, {});
    DyingSource source([] { ::kill(::getpid(), SIGKILL); });
    (void)segments_->put({&cursor, &source});
  });
  ASSERT_TRUE(put(200, 10, 2).ok());  // after it, in the same place
  EXPECT_EQ(segments_->kept(), 420);
  in_child([&] {
    StridedCursor cursor(3000, 0, 10, {});
    DyingSource source([] { ::_exit(3); });
    (void)segments_->put({&cursor, &source});
  });
  ASSERT_TRUE(segments_->drain().ok());
  std::vector<int> expected(510, 1);
  std::fill_n(expected.begin(), 90, 0);
  std::fill_n(expected.begin() + 200, 10, 2);
  EXPECT_EQ(file(0, 4096), expected);
}

// Where it cannot be saved it goes to the file first: partly put, or at the edge.
TEST_F(NodeSegmentsTest, WhatADeadRankWasChangingIsInTheFile) {
  int value = 0;
  for (const auto& [begin, length] : {std::pair<std::int64_t, std::int64_t>{100, 300}, {kBytes - 8, 16}}) {
    ++value;
    ASSERT_TRUE(put(begin, std::min<std::int64_t>(length, kBytes - begin), value).ok());
    in_child([&] {
      StridedCursor cursor(begin, 0, length + 100, {});
      DyingSource source([] { ::_exit(3); });
      (void)segments_->put({&cursor, &source});
    });
    EXPECT_EQ(file(begin, 8), std::vector<int>(8, value));
    ASSERT_TRUE(segments_->drain().ok());
    EXPECT_EQ(file(begin, 8), std::vector<int>(8, value));
  }
}

// An element that the edge of a segment cuts is put whole or not at all.
TEST_F(NodeSegmentsTest, ADeadRankLeavesNoHalfOfARunThatAnEdgeCuts) {
  in_child([&] {
    StridedCursor cursor(kBytes - 3, 0, 8, {});
    static int calls;
    calls = 0;
    DyingSource source([] {
      if (++calls == 2) ::kill(::getpid(), SIGKILL);
    });
    (void)segments_->put({&cursor, &source});
  });
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(segments_->kept(), 0);
  EXPECT_EQ(file(0, 2 * kBytes), std::vector<int>());
}

// With the second part it is whole, also while the first one's segment, which is full, is written.
TEST_F(NodeSegmentsTest, ADeadRankLeavesTheWholeOfARunThatAnEdgeCuts) {
  class KillingStorage final : public Storage {
    Status write(std::span<const Piece>) override {
      return {Code::io, ::kill(::getpid(), SIGKILL) == 0 ? "" : "?"};
    }
    Status read(std::int64_t, std::byte*, std::int64_t) override { return {}; }
  };
  ASSERT_TRUE(put(0, kBytes - 4, 1).ok());
  const int status = in_child([&] {
    KillingStorage killing;
    segments_->attach(killing, counters_, std::chrono::seconds(100));
    (void)put(kBytes - 4, 8, 7);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(file(kBytes - 4, 8), std::vector<int>(8, 7));
}

// Whoever finds a dead rank's lock, and others, are listing meanwhile what they are about to put: half a list
// may say anything.
TEST_F(NodeSegmentsTest, ADeathTakesNothingFromTheLiving) {
  ASSERT_TRUE(put(0, 10, 1).ok());
  in_child([&] {
    StridedCursor cursor(100, 0, 1000, {});
    DyingSource source([] { ::_exit(3); });
    (void)segments_->put({&cursor, &source});
  });
  const SegmentArea area(memory_, kBytes, kCount, 2, 0);
  area.journal().runs()[1] = {0, 0, 10};
  area.journal().begin(2);
  ASSERT_TRUE(put(20, 10, 2).ok());
  EXPECT_EQ(segments_->kept(), 20);
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(file(20, 100), std::vector<int>(10, 2));
}

// A rank that ends leaves what another one is copying to that one.
TEST_F(NodeSegmentsTest, WhoEndsWaitsForWhoCopies) {
  ASSERT_TRUE(put(0, 10, 1).ok());
  ASSERT_TRUE(put(kBytes, 10, 2).ok());
  std::array<int, 2> inside{}, go{};
  ASSERT_EQ(::pipe(inside.data()), 0);
  ASSERT_EQ(::pipe(go.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    NodeSegments other(memory_, kBytes, kCount, 2, 1);
    Counters counters;
    other.attach(*storage_, counters, std::chrono::seconds(100));
    static std::array<int, 2> pipes;
    pipes = {inside[1], go[0]};
    StridedCursor cursor(kBytes, 0, 10, {});
    DyingSource source([] {
      char c = 0;
      (void)!::write(pipes[0], &c, 1);
      (void)!::read(pipes[1], &c, 1);
    });
    (void)other.put({&cursor, &source});
    ::_exit(0);
  }
  char c = 0;
  ASSERT_EQ(::read(inside[0], &c, 1), 1);
  EXPECT_TRUE(segments_->write_out_in_signal(fd_));
  EXPECT_EQ(file(0, 10), std::vector<int>(10, 1));
  EXPECT_EQ(file(kBytes, 10), std::vector<int>());
  ASSERT_EQ(::write(go[1], &c, 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(segments_->write_out_in_signal(fd_));
  EXPECT_EQ(file(kBytes, 10).size(), 10U);
  for (const int fd : {inside[0], inside[1], go[0], go[1]}) ::close(fd);
}

// A rank that was killed does not take away what it had put.
TEST_F(NodeSegmentsTest, TheOthersWriteWhatADeadRankPut) {
  in_child([&] {
    (void)put(50, 500, 4);
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_EQ(segments_->kept(), 500);
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(file(50, 500), std::vector<int>(500, 4));
}

TEST_F(NodeSegmentsTest, ASignalInTheMiddleWritesAllTheSame) {
  static NodeSegments* segments = nullptr;
  static int fd = -1;
  fd = fd_;
  ASSERT_TRUE(put(0, 10, 1).ok());
  ASSERT_TRUE(put(3 * kBytes, 10, 3).ok());
  const int status = in_child([&] {
    segments = segments_.get();
    ::signal(SIGTERM, [](int) { ::_exit(segments->write_out_in_signal(fd) ? 5 : 6); });
    StridedCursor cursor(100, 0, 1000, {});
    DyingSource source([] { ::raise(SIGTERM); });
    (void)segments_->put({&cursor, &source});
  });
  ASSERT_EQ(WEXITSTATUS(status), 5);
  EXPECT_EQ(file(0, 10), std::vector<int>(10, 1));
  EXPECT_EQ(file(3 * kBytes, 100), std::vector<int>(10, 3));
  ASSERT_TRUE(put(20, 10, 2).ok());  // the lock is free
}

TEST_F(NodeSegmentsTest, WhoThrowsLeavesNoLock) {
  StridedCursor cursor(100, 0, 1000, {});
  DyingSource source([] { throw std::bad_alloc(); });
  EXPECT_THROW((void)segments_->put({&cursor, &source}), std::bad_alloc);
  const int status = in_child([&] {
    ::alarm(5);
    (void)put(20, 10, 2);
    ::_exit(7);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(segments_->kept(), 10);
}

TEST_F(NodeSegmentsTest, TheLongestUnusedGivesWay) {
  for (int i = 0; i < kCount; ++i) ASSERT_TRUE(put(i * kBytes, 10, i + 1).ok());
  ASSERT_TRUE(put(10, 10, 1).ok());
  ASSERT_TRUE(put(100 * kBytes, 10, 9).ok());
  EXPECT_EQ(file(kBytes, 10), std::vector<int>(10, 2));
  EXPECT_EQ(file(0, 10), std::vector<int>(10, 0));  // before what was written, and not yet there
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(file(100 * kBytes, 20), std::vector<int>(10, 9));
  EXPECT_EQ(file(0, 20), std::vector<int>(20, 1));
}

// Whoever wants to write there may die before that.
TEST_F(NodeSegmentsTest, WhatIsDiscardedIsInTheFile) {
  ASSERT_TRUE(put(0, 3 * kBytes - 1, 1).ok());  // two are full and gone
  EXPECT_EQ(segments_->kept(), kBytes - 1);
  segments_->discard({2 * kBytes - 5, 2 * kBytes + 5});
  segments_->discard({10 * kBytes, std::int64_t{1} << 40});
  EXPECT_EQ(segments_->kept(), 0);
  EXPECT_EQ(file(0, 4 * kBytes), std::vector<int>(static_cast<std::size_t>(3 * kBytes - 1), 1));
  ASSERT_TRUE(put(0, 10, 2).ok());
  segments_->discard({10, 20});  // a neighbour stays
  EXPECT_EQ(segments_->kept(), 10);
}

TEST_F(NodeSegmentsTest, SmallHolesAreFilledFromTheFile) {
  segments_->attach(*storage_, counters_, std::chrono::seconds(100), true);
  const std::vector<char> before(100, 5);
  ASSERT_EQ(::pwrite(fd_, before.data(), before.size(), kBytes), 100);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(put(kBytes + 10 + 20 * i, 10, 1 + i).ok());
  ASSERT_TRUE(segments_->drain().ok());
  std::vector<int> expected(100, 5);
  for (int i = 0; i < 4; ++i) std::fill_n(expected.begin() + 10 + 20 * i, 10, 1 + i);
  EXPECT_EQ(file(kBytes, 200), expected);  // nothing behind what was put
  EXPECT_EQ(counters_.writes, 1);
  EXPECT_EQ(counters_.rmw_blocks, 1);
}

// The keeper process, and who gives the memory to another file.
TEST_F(NodeSegmentsTest, ServiceEndsBeforeTheNextFile) {
  segments_->serve(7);
  EXPECT_FALSE(segments_->is_acknowledged());
  segments_->acknowledge(7);
  EXPECT_TRUE(segments_->is_acknowledged());
  ASSERT_TRUE(put(0, 10, 1).ok());
  EXPECT_TRUE(segments_->drain_for(6).ok());
  EXPECT_EQ(segments_->kept(), 10);  // not that file's
  EXPECT_TRUE(segments_->drain_for(7).ok());
  EXPECT_EQ(segments_->kept(), 0);
  EXPECT_TRUE(segments_->end_service());
  EXPECT_FALSE(segments_->is_acknowledged());
  // A keeper that is still in there: here it asks itself while it writes.
  segments_->serve(8);
  class Asking final : public Storage {
   public:
    explicit Asking(NodeSegments& of) : of_(of) {}
    Status write(std::span<const Piece>) override {
      free_ = of_.end_service();
      return {};
    }
    Status read(std::int64_t, std::byte*, std::int64_t) override { return {}; }
    bool free_ = true;

   private:
    NodeSegments& of_;
  } asking(*segments_);
  ASSERT_TRUE(put(0, 10, 1).ok());
  segments_->attach(asking, counters_, std::chrono::seconds(100));
  EXPECT_TRUE(segments_->drain_for(8).ok());
  EXPECT_FALSE(asking.free_);
  EXPECT_TRUE(segments_->end_service());
}

// Of long runs only the holes are read.
TEST_F(NodeSegmentsTest, HolesFarApartAreReadOneByOne) {
  constexpr std::int64_t bytes = 64 << 10;
  std::vector<std::byte> memory(NodeSegments::bytes_needed(bytes, 1, 1));
  NodeSegments segments(memory.data(), bytes, 1, 1, 0);
  segments.initialize();
  segments.attach(*storage_, counters_, std::chrono::seconds(100), true);
  const std::vector<char> before(static_cast<std::size_t>(bytes), 5);
  ASSERT_EQ(::pwrite(fd_, before.data(), before.size(), 0), bytes);
  const std::vector<std::byte> data(20000, std::byte{7});
  for (std::int64_t i = 0; i < 3; ++i) {
    StridedCursor cursor(100 + 20100 * i, 0, 20000, {});
    MemorySource source(data.data());
    ASSERT_TRUE(segments.put({&cursor, &source}).ok());
  }
  ASSERT_TRUE(segments.drain().ok());
  std::vector<int> expected(static_cast<std::size_t>(bytes), 5);
  for (int i = 0; i < 3; ++i) std::fill_n(expected.begin() + 100 + 20100 * i, 20000, 7);
  EXPECT_EQ(file(0, bytes), expected);
  EXPECT_EQ(counters_.writes, 1);
  EXPECT_EQ(counters_.reads, 2);
  EXPECT_EQ(counters_.read_bytes, 200);
}

// What it writes could be overwritten by what was read before.
TEST_F(NodeSegmentsTest, NoHoleIsFilledWhileAnotherRankPassesBy) {
  segments_->attach(*storage_, counters_, std::chrono::seconds(100), true);
  NodeSegments other(memory_, kBytes, kCount, 2, 1);
  Counters counters;
  other.attach(*storage_, counters, std::chrono::seconds(100), true);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(put(20 * i, 10, 1).ok());
  other.discard({100, 200});
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(counters_.writes, 4);
  EXPECT_EQ(counters_.rmw_blocks, 0);
  other.end_bypass();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(put(20 * i, 10, 1).ok());
  ASSERT_TRUE(segments_->drain().ok());
  EXPECT_EQ(counters_.writes, 5);
}

}  // namespace
}  // namespace forebay
