// What a stage has, gives, forgets and refuses.
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>

#include "../dice.hpp"
#include "stage_tools.hpp"

namespace test {
namespace {

constexpr std::int64_t kSize = 20 * kUnit + 777;

std::array kinds{StageKind::extent, StageKind::compact};

TEST(Stage, reads_a_unit_of_the_file_once) {
  for (const StageKind kind : kinds) {
    StagedFile f(kSize);
    f.wish.kind = kind;
    auto stage = f.stage();
    f.expect(*stage, 3 * kUnit + 5, 100);
    EXPECT_EQ(f.below->reads, 1);
    EXPECT_EQ(f.below->bytes, kUnit);
    f.expect(*stage, 3 * kUnit, kUnit);
    f.expect(*stage, 4 * kUnit - 1, 1);
    EXPECT_EQ(f.below->reads, 1);
    EXPECT_EQ(f.tally.reads, 2);
    EXPECT_EQ(f.tally.fetched_bytes, kUnit);
    // Across what is there and what is not; the file's last unit is short.
    f.expect(*stage, 2 * kUnit + 9, 3 * kUnit);
    f.expect(*stage, 19 * kUnit + 1, kSize - 19 * kUnit - 1);
    f.expect(*stage, 0, kSize);
    const std::int64_t bytes = f.below->bytes;
    EXPECT_EQ(bytes, kSize);
    f.expect(*stage, 0, kSize);
    EXPECT_EQ(f.below->bytes, bytes);
    EXPECT_TRUE(stage->has(0, kSize));
  }
}

TEST(Stage, reads_past_the_end_what_the_file_has_there) {
  StagedFile f(kSize);
  auto stage = f.stage();
  f.expect(*stage, kSize - 10, 50);
  f.expect(*stage, kSize + 10, 50);
  const Descriptor out(::open(f.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  ASSERT_EQ(::write(out.number(), "grown", 5), 5);
  std::byte data[10]{};
  ASSERT_TRUE(stage->read(kSize - 2, data, 10, *f.below, f.tally).ok());
  EXPECT_EQ(std::memcmp(data + 2, "grown\0\0", 7), 0);
}

TEST(Stage, random_reads_of_two_processes_views) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    StagedFile f(dice.between(1, kSize));
    f.wish.kind = dice.pick(kinds);
    f.wish.stripe_bytes = dice.one_in(2) ? kUnit : 100'000;
    if (dice.one_in(2)) f.wish.bytes = 700'000;
    const std::string name = f.find();
    auto one = f.attach(name), other = f.attach(name);
    for (int i = 0; i < 40; ++i) {
      const std::int64_t offset = dice.below(f.size + 1000), length = dice.between(1, 6 * kUnit);
      f.expect(dice.one_in(2) ? *one : *other, offset, length);
      if (dice.one_in(10)) (void)one->fetch(dice.below(f.size), f.size, 2 * kUnit, *f.below, f.tally);
    }
  }
}

TEST(Stage, is_found_by_the_next_program) {
  for (const StageKind kind : kinds) {
    StagedFile f(kSize);
    f.wish.kind = kind;
    f.expect(*f.stage(), 0, 5 * kUnit);
    // Bytes that changed without a trace prove where the second one reads.
    f.write_version(1);
    f.look();
    auto stage = f.stage();
    f.expect(*stage, 0, 5 * kUnit, 0);
    f.expect(*stage, 5 * kUnit, 1, 1);
  }
}

TEST(Stage, is_not_of_a_file_that_changed) {
  StagedFile f(kSize);
  const std::string name = f.find();
  f.expect(*f.attach(name), 0, kSize);
  const auto expect_anew = [&](const char* what) {
    SCOPED_TRACE(what);
    f.look();
    std::unique_ptr<NodeStage> old;
    EXPECT_FALSE(NodeStage::attach(name, f.wish.file, old).ok());
    auto stage = f.stage();
    const std::int64_t before = f.tally.fetched_bytes;
    f.expect(*stage, 0, f.size, 1);
    EXPECT_EQ(f.tally.fetched_bytes, before + f.size);
    EXPECT_EQ(f.list().size(), 1u);
  };
  f.write_version(1);
  f.set_time(1'600'000'000, 1);
  expect_anew("a nanosecond later");
  ASSERT_EQ(::truncate(f.path.c_str(), kSize - 1), 0);
  f.size = kSize - 1;
  f.set_time(1'600'000'000, 1);
  expect_anew("shorter");
  std::filesystem::copy_file(f.path, f.path + ".new");
  std::filesystem::rename(f.path + ".new", f.path);
  f.set_time(1'600'000'000, 1);
  expect_anew("another file of that name");
}

TEST(Stage, is_made_anew_where_the_file_may_have_changed_in_the_same_step_of_its_clock) {
  StagedFile f(kSize);
  f.write_version(0, ::time(nullptr));
  f.look();
  f.expect(*f.stage(), 0, kSize);
  EXPECT_EQ(f.tally.fetched_bytes, kSize);
  f.expect(*f.stage(), 0, kSize);
  EXPECT_EQ(f.tally.fetched_bytes, 2 * kSize);
  // The file's clock may go before the node's.
  f.write_version(0, ::time(nullptr) + 1000);
  f.look();
  f.expect(*f.stage(), 0, kSize);
  f.expect(*f.stage(), 0, kSize);
  EXPECT_EQ(f.tally.fetched_bytes, 4 * kSize);
  // Two that open it at once do not take each other's away.
  auto one = f.stage(), other = f.stage();
  EXPECT_NE(one->name(), other->name());
  (void)f.attach(one->name());
  (void)f.attach(other->name());
  one.reset();
  other.reset();
  (void)f.stage();
  EXPECT_EQ(f.list().size(), 1u) << "nobody can find the old ones";
}

TEST(Stage, stays_as_long_as_who_found_it_has_it) {
  StagedFile f(kSize), other(kSize);
  other.wish.folder = f.wish.folder;
  other.wish.bytes = f.wish.bytes = 30 * kUnit;
  auto stage = f.stage();
  f.expect(*stage, 0, kSize);
  other.expect(*other.stage(), 0, kSize);
  (void)f.attach(stage->name());
}

TEST(Stage, who_has_it_open_goes_on_when_it_is_replaced) {
  StagedFile f(kSize);
  auto old = f.stage();
  f.expect(*old, 0, kUnit);
  f.write_version(1, 1'600'000'100);
  f.look();
  auto fresh = f.stage();
  f.expect(*fresh, 0, kUnit, 1);
  f.expect(*old, 0, kUnit, 0);
}

TEST(Stage, a_unit_counts_when_it_is_whole) {
  StagedFile f(kSize);
  auto stage = f.stage();
  f.below->fails = true;
  std::vector<std::byte> data(kUnit);
  EXPECT_FALSE(stage->read(0, data.data(), kUnit, *f.below, f.tally).ok());
  EXPECT_FALSE(stage->has(0, 1));
  f.below->fails = false;
  f.expect(*stage, 0, kUnit);
  EXPECT_EQ(stage->used(), kUnit);
}

TEST(Stage, two_that_want_the_same_fetch_it_once) {
  StagedFile f(kSize);
  const std::string name = f.find();
  auto one = f.attach(name), other = f.attach(name);
  CountingStorage theirs(make_posix_storage(f.file.number(), f.path));
  std::vector<std::byte> data(3 * kUnit);
  StageTally tally;
  std::thread second;
  f.below->before = [&](std::int64_t, std::int64_t) {
    // While the first one reads unit 1, the second one wants 0 to 2.
    second = std::thread([&] { EXPECT_TRUE(other->read(0, data.data(), 3 * kUnit, theirs, tally).ok()); });
    while (!other->has(2 * kUnit, 3 * kUnit)) std::this_thread::yield();
  };
  std::vector<std::byte> mine(1);
  ASSERT_TRUE(one->read(kUnit, mine.data(), 1, *f.below, f.tally).ok());
  second.join();
  f.below->before = nullptr;
  EXPECT_EQ(f.below->bytes, kUnit);
  EXPECT_EQ(theirs.bytes, 2 * kUnit);
  for (std::int64_t i = 0; i < 3 * kUnit; ++i) ASSERT_EQ(data[static_cast<std::size_t>(i)], byte_at(i)) << i;
}

TEST(Stage, nobody_waits_for_a_dead_one) {
  for (const StageKind kind : kinds) {
    StagedFile f(kSize);
    f.wish.kind = kind;
    const std::string name = f.find();
    const pid_t child = ::fork();
    if (child == 0) {
      auto stage = f.attach(name);
      f.below->before = [](std::int64_t, std::int64_t) { ::raise(SIGKILL); };
      f.expect(*stage, kUnit, kUnit);
      ::_exit(0);
    }
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFSIGNALED(how));
    auto stage = f.attach(name);
    const auto begun = std::chrono::steady_clock::now();
    f.expect(*stage, 0, kSize);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
    EXPECT_TRUE(stage->has(0, kSize));
    // What the dead one had reserved is free again for who comes next.
    stage.reset();
    stage = f.stage();
    EXPECT_EQ(stage->used(), kSize);
  }
}

// ---- bounds ----

TEST(Bound, has_room_again_for_what_a_dead_one_was_at) {
  StagedFile f(kSize);
  f.wish.kind = StageKind::extent;
  f.wish.bytes = 8 * kUnit + 3 * kStagePage;
  auto stage = f.stage();
  const pid_t child = ::fork();
  if (child == 0) {
    auto mine = f.attach(stage->name());
    f.below->before = [](std::int64_t, std::int64_t) { ::raise(SIGKILL); };
    f.expect(*mine, 18 * kUnit, 2 * kUnit);
    ::_exit(0);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFSIGNALED(how));
  for (std::int64_t unit = 0; unit < 10; ++unit) f.expect(*stage, unit * kUnit, kUnit);
  EXPECT_EQ(stage->used(), 8 * kUnit);
}

TEST(Bound, an_extent_stage_keeps_no_more) {
  StagedFile f(kSize);
  f.wish.kind = StageKind::extent;
  f.wish.bytes = 8 * kUnit + 3 * kStagePage;
  auto stage = f.stage();
  ASSERT_FALSE(stage->compact());
  f.expect(*stage, 0, kSize);
  EXPECT_EQ(stage->used(), 8 * kUnit);
  EXPECT_LE(f.list().front().taken, f.wish.bytes);
  const std::int64_t before = f.below->bytes;
  f.expect(*stage, 0, 8 * kUnit);
  EXPECT_EQ(f.below->bytes, before);
  f.expect(*stage, 9 * kUnit, 10);
  EXPECT_EQ(f.below->bytes, before + 10) << "what cannot be kept is not read in units";
}

TEST(Bound, a_compact_stage_gives_up_what_is_least_recently_used) {
  StagedFile f(kSize);
  f.wish.kind = StageKind::automatic;
  f.wish.bytes = 8 * kUnit + 3 * kStagePage;
  auto stage = f.stage();
  ASSERT_TRUE(stage->compact());
  const std::int64_t held = stage->bound() / kUnit;
  ASSERT_EQ(held, 8);
  for (std::int64_t unit = 0; unit < held; ++unit) f.expect(*stage, unit * kUnit, 10);
  f.expect(*stage, 0, 10);           // used
  f.expect(*stage, 12 * kUnit, 10);  // in the place of 1
  EXPECT_TRUE(stage->has(0, 1));
  EXPECT_FALSE(stage->has(kUnit, kUnit + 1));
  EXPECT_TRUE(stage->has(2 * kUnit, 2 * kUnit + 1));
  f.expect(*stage, 0, kSize);
  f.expect(*stage, 0, kSize);
  EXPECT_LE(stage->used(), held * kUnit);
  EXPECT_LE(f.list().front().taken, f.wish.bytes);
}

TEST(Bound, holds_for_all_files_of_the_folder) {
  StagedFile f(kSize), other(kSize), third(kSize);
  other.wish.folder = third.wish.folder = f.wish.folder;
  f.wish.bytes = other.wish.bytes = third.wish.bytes = 30 * kUnit;
  auto stage = f.stage();
  f.expect(*stage, 0, kSize);
  // It is used, so the other one gets what is left.
  auto second = other.stage();
  EXPECT_TRUE(second->compact());
  other.expect(*second, 0, kSize);
  std::int64_t taken = 0;
  for (const FoundStage& each : f.list()) taken += each.taken;
  EXPECT_LE(taken, f.wish.bytes);
  stage.reset();
  second.reset();
  // Nobody uses them: what was opened first goes, and that is enough.
  auto last = third.stage();
  EXPECT_FALSE(last->compact());
  EXPECT_EQ(f.list().size(), 2u);
  std::unique_ptr<NodeStage> gone;
  EXPECT_TRUE(std::ranges::none_of(f.list(), [&](const FoundStage& each) { return each.path == f.path; }));
}

TEST(Bound, too_little_is_told) {
  StagedFile f(kSize);
  f.wish.bytes = kUnit;
  std::unique_ptr<NodeStage> none;
  const Status status = find_stage(f.wish, none);
  EXPECT_EQ(status.code(), Code::no_space) << status.message();
  EXPECT_NE(status.message().find("forebay_stage_bytes"), std::string::npos);
  EXPECT_TRUE(f.list().empty());
}

TEST(Bound, stages_of_changed_files_go_when_they_are_found) {
  StagedFile f(kSize), other(kSize);
  other.wish.folder = f.wish.folder;
  f.expect(*f.stage(), 0, kSize);
  f.set_time(1'700'000'000);
  (void)other.find();
  ASSERT_EQ(f.list().size(), 1u);
  EXPECT_EQ(f.list().front().path, other.path);
}

// ---- what goes wrong ----

TEST(Failure, of_a_full_disk_is_none_of_the_read) {
  for (const StageKind kind : kinds) {
    StagedFile f(kSize);
    f.wish.kind = kind;
    auto stage = f.stage();
    f.expect(*stage, 0, 2 * kUnit);
    // As a disk that takes no more: the size that a file may have.
    struct rlimit before{}, now{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = static_cast<rlim_t>(kUnit);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &now), 0);
    ::testing::internal::CaptureStderr();
    f.expect(*stage, 0, kSize);
    const std::string said = ::testing::internal::GetCapturedStderr();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, handler);
    EXPECT_NE(said.find(f.path), std::string::npos) << said;
    EXPECT_TRUE(stage->off());
    f.expect(*stage, 0, kSize);
    // Who comes next goes on with what is there.
    stage.reset();
    stage = f.stage();
    EXPECT_EQ(stage->used(), 2 * kUnit);
    f.expect(*stage, 0, kSize);
    EXPECT_EQ(stage->used(), kSize);
  }
}

TEST(Failure, a_stage_that_was_cut_off_is_none_of_the_read) {
  StagedFile f(kSize);
  const std::string name = f.find();
  auto stage = f.attach(name);
  f.expect(*stage, 0, kSize);
  const StagePlan plan{stage->identity().units(), 0};
  ASSERT_EQ(::truncate(name.c_str(), plan.data() + 3 * kUnit + 5), 0);
  ::testing::internal::CaptureStderr();
  f.expect(*stage, 0, kSize);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("cannot read the stage"), std::string::npos);
}

TEST(Failure, what_is_damaged_or_of_others_is_made_anew) {
  StagedFile f(kSize);
  const std::string name = f.find();
  f.expect(*f.attach(name), 0, kSize);
  const Descriptor out(::open(name.c_str(), O_RDWR | O_CLOEXEC));
  const auto change = [&](std::size_t at) {
    char byte = 0;
    ASSERT_EQ(::pread(out.number(), &byte, 1, static_cast<off_t>(at)), 1);
    ++byte;
    ASSERT_EQ(::pwrite(out.number(), &byte, 1, static_cast<off_t>(at)), 1);
  };
  change(offsetof(StageIdentity, changed_at));
  std::unique_ptr<NodeStage> stage;
  EXPECT_FALSE(NodeStage::open(name, stage).ok());
  f.expect(*f.stage(), 0, kSize);
  EXPECT_EQ(f.tally.fetched_bytes, 2 * kSize);
  ASSERT_EQ(::chmod(name.c_str(), 0622), 0);
  EXPECT_FALSE(NodeStage::open(name, stage).ok());
}

TEST(Failure, a_folder_that_is_not_there_is_told) {
  StagedFile f(kSize);
  f.wish.folder = f.folder + "/nowhere";
  std::unique_ptr<NodeStage> none;
  const Status status = find_stage(f.wish, none);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("nowhere"), std::string::npos);
}

TEST(Unit, follows_the_stripe_and_the_size) {
  EXPECT_EQ(choose_unit(512 << 10, 1 << 30), 512 << 10);
  EXPECT_EQ(choose_unit(1000, 1 << 30), 128'000);
  EXPECT_EQ(choose_unit(16 << 20, 1 << 30), 4 << 20);
  EXPECT_EQ(choose_unit(3 << 20, 1 << 30), 3 << 20);
  EXPECT_LE((std::int64_t{100} << 40) / choose_unit(64 << 10, std::int64_t{100} << 40), kMostUnits);
}

}  // namespace
}  // namespace test
