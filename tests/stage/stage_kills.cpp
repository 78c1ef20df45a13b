// Processes that are killed at random moments, SIGKILL, while they read by one stage: what the others and the
// next ones read is right, nobody waits for the dead, and nothing is lost of the room.
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "../dice.hpp"
#include "stage_tools.hpp"

namespace test {
namespace {

constexpr int kReaders = 3;
constexpr std::int64_t kSize = 60 * kUnit + 99;

// Ends with 0 when it was left alone for so many reads, 1 where one was wrong.
[[noreturn]] void read_on(StagedFile& f, const std::string& name, std::uint64_t seed, int reads) {
  std::unique_ptr<NodeStage> stage;
  if (!NodeStage::attach(name, f.wish.file, stage).ok()) ::_exit(2);
  Dice dice(seed);
  std::vector<std::byte> data(8 * kUnit);
  for (int i = 0; i < reads; ++i) {
    const std::int64_t offset = dice.below(kSize);
    const std::int64_t length = std::min(kSize - offset, dice.between(1, 8 * kUnit));
    if (!stage->read(offset, data.data(), length, *f.below, f.tally).ok()) ::_exit(3);
    for (std::int64_t k = 0; k < length; k += dice.between(1, 500)) {
      if (data[static_cast<std::size_t>(k)] != byte_at(offset + k)) ::_exit(1);
    }
    if (data[static_cast<std::size_t>(length - 1)] != byte_at(offset + length - 1)) ::_exit(1);
  }
  ::_exit(0);
}

void kill_readers(StageKind kind, std::int64_t bytes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StagedFile f(kSize);
    f.wish.kind = kind;
    f.wish.bytes = bytes;
    const std::string name = f.find();
    Dice dice(seed);
    for (int round = 0; round < 2; ++round) {
      std::vector<pid_t> readers;
      for (int r = 0; r < kReaders; ++r) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) read_on(f, name, seed * 100 + static_cast<std::uint64_t>(r), 1'000'000);
        readers.push_back(child);
      }
      for (const pid_t reader : readers) {
        std::this_thread::sleep_for(std::chrono::microseconds(dice.between(200, 6'000)));
        ::kill(reader, SIGKILL);
        int how = 0;
        ASSERT_EQ(::waitpid(reader, &how, 0), reader);
        ASSERT_TRUE(WIFSIGNALED(how)) << "a reader ended with " << WEXITSTATUS(how);
      }
    }
    // Two that live read all of it, at once.
    const auto begun = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) read_on(f, name, seed, 50);
    auto stage = f.attach(name);
    f.expect(*stage, 0, kSize);
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(9)) << "waited for a dead one";
    // The next program finds all room of the dead again.
    stage.reset();
    EXPECT_EQ(f.find(), name);
    stage = f.attach(name);
    f.expect(*stage, 0, kSize);
    f.expect(*stage, 0, kSize);
    EXPECT_LE(stage->used(), stage->bound());
    if (stage->compact())
      EXPECT_GE(stage->used(), stage->bound() - 2 * kUnit);
    else
      EXPECT_EQ(stage->used(), std::min(kSize, stage->bound() / kUnit * kUnit + kSize % kUnit));
  }
}

TEST(Kills, of_readers_of_an_extent_stage) {
  kill_readers(StageKind::extent, 64 << 20);
}

TEST(Kills, of_readers_of_a_compact_stage_that_is_too_small) {
  kill_readers(StageKind::compact, 12 * kUnit + 4 * kStagePage);
}

}  // namespace
}  // namespace test
