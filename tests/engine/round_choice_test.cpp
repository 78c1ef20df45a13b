// Choosing how a file is cut and in which rounds it is written, from numbers alone.
#include "exchange/round_choice.hpp"

#include <gtest/gtest.h>

#include <random>

#include "exchange/node_window.hpp"
#include "exchange/outbox.hpp"

namespace forebay {
namespace {

constexpr std::int64_t KiB = 1 << 10, MiB = 1 << 20;

struct Machine {
  int nodes, ranks, aggregators;
};

RoundChoice choose(const Settings& settings, const Machine& machine, const Striping& striping) {
  const NodeBytes node{machine.ranks, settings.memory_bytes / 2};
  return choose_rounds(settings, {{machine.nodes, machine.aggregators}, machine.ranks}, striping,
                       memory_for_rounds(settings, node));
}

std::int64_t window_bytes(const RoundChoice& choice, int ranks) {
  return static_cast<std::int64_t>(NodeWindow::bytes_needed(ranks, choice.layout.round_bytes()));
}

TEST(RoundChoice, TakesTheMemoryOfItsRanksAtMost) {
  std::mt19937_64 random(5);
  int wide = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Settings settings;
    settings.memory_bytes = std::int64_t{1} << (20 + random() % 8);
    const Machine machine{static_cast<int>(1 + random() % 300), static_cast<int>(1 + random() % 128), 1};
    const Striping striping{std::int64_t{1} << (16 + random() % 7), static_cast<std::int64_t>(random() % 40)};
    const RoundChoice choice = choose(settings, machine, striping);
    const std::int64_t most = settings.memory_bytes / 2 * machine.ranks;
    std::int64_t taken = window_bytes(choice, machine.ranks);
    if (choice.wide.possible()) {
      ++wide;
      const auto outbox = static_cast<std::int64_t>(Outbox::bytes_needed(choice.wide, machine.ranks));
      EXPECT_LE(outbox, most / 2) << trial;
      taken += outbox;
    }
    EXPECT_LE(taken, most) << trial << ": " << machine.nodes << " nodes of " << machine.ranks;
    EXPECT_EQ(choice.layout.round_bytes() % 4096, 0);
  }
  EXPECT_GT(wide, 300);
}

TEST(RoundChoice, IsWideWhereAWindowLeavesOwnersWithoutWork) {
  Settings settings;
  const Striping striping{512 * KiB};
  for (int nodes = 1; nodes <= 512; nodes *= 2) {
    const Machine machine{nodes, 8, 2};
    settings.rounds = Rounds::automatic;
    const RoundChoice automatic = choose(settings, machine, striping);
    settings.rounds = Rounds::window;
    const RoundChoice window = choose(settings, machine, striping);
    EXPECT_FALSE(window.wide.possible());
    const bool all_at_work = window.layout.round_bytes() >= nodes * 2 * 512 * KiB;
    EXPECT_EQ(automatic.wide.possible(), nodes > 1 && !all_at_work) << nodes;
    settings.rounds = Rounds::wide;
    EXPECT_EQ(choose(settings, machine, striping).wide.possible(), nodes > 1) << nodes;
  }
  EXPECT_TRUE(choose({}, {512, 8, 2}, striping).wide.possible());
  EXPECT_FALSE(choose({}, {2, 8, 2}, striping).wide.possible());
  // With many ranks on a node most of a window is marks.
  EXPECT_FALSE(choose({}, {2, 15, 2}, striping).wide.possible());
  EXPECT_TRUE(choose({}, {2, 16, 2}, striping).wide.possible());
  EXPECT_FALSE(choose({}, {1, 16, 2}, striping).wide.possible());
}

TEST(RoundChoice, TakesAWideRoundForWhatDoesNotFitAWindow) {
  Settings settings;
  const RoundChoice choice = choose(settings, {512, 8, 2}, {512 * KiB});
  const std::int64_t round = choice.layout.round_bytes();
  EXPECT_FALSE(takes_wide(settings, choice.layout, choice.wide, {0, round}, Direction::write));
  EXPECT_TRUE(takes_wide(settings, choice.layout, choice.wide, {0, round + 1}, Direction::write));
  EXPECT_TRUE(takes_wide(settings, choice.layout, choice.wide, {round - 1, round + 1}, Direction::write));
  EXPECT_FALSE(takes_wide(settings, choice.layout, {}, {0, 2 * round}, Direction::write));
  settings.rounds = Rounds::wide;
  EXPECT_TRUE(takes_wide(settings, choice.layout, choice.wide, {0, 1}, Direction::write));
}

TEST(RoundChoice, ReadsByWideRoundsOnlyWhereOwnersWouldHaveNoWork) {
  const Settings settings;
  const Extent large{0, 512 * MiB};
  const RoundChoice few = choose(settings, {2, 32, 2}, {512 * KiB}),
                    many = choose(settings, {512, 32, 2}, {512 * KiB});
  ASSERT_TRUE(all_at_work(few.layout));
  ASSERT_FALSE(all_at_work(many.layout));
  EXPECT_TRUE(takes_wide(settings, few.layout, few.wide, large, Direction::write));
  EXPECT_FALSE(takes_wide(settings, few.layout, few.wide, large, Direction::read));
  EXPECT_TRUE(takes_wide(settings, many.layout, many.wide, large, Direction::write));
  EXPECT_TRUE(takes_wide(settings, many.layout, many.wide, large, Direction::read));
}

TEST(RoundChoice, FollowsHintsWithinMemory) {
  Settings settings;
  settings.window_bytes = 4 * MiB;
  EXPECT_EQ(choose(settings, {1, 4, 2}, {MiB}).layout.round_bytes(), 4 * MiB);
  settings.window_bytes = 0;
  settings.aggregator_bytes = 2 * MiB;
  EXPECT_EQ(choose(settings, {2, 4, 2}, {MiB}).layout.round_bytes(), 8 * MiB);
  settings.memory_bytes = MiB;  // half of it for windows of two buffers
  EXPECT_LT(choose(settings, {2, 4, 2}, {MiB}).layout.round_bytes(), MiB);
}

TEST(RoundMemory, IsWhatIsLeftAndFitsSharedMemory) {
  const Settings settings;  // 16 MiB a rank, 8 of it for windows
  EXPECT_EQ(memory_for_rounds(settings, {4, 8 * MiB}).window, 8 * MiB);
  EXPECT_EQ(memory_for_rounds(settings, {4, 3 * MiB}).window, 3 * MiB);
  EXPECT_EQ(memory_for_rounds(settings, {4, 30 * MiB}).window, 8 * MiB);
  // Half of what is free there, and what makes room.
  EXPECT_EQ(memory_for_rounds(settings, {4, 8 * MiB, 0, 16 * MiB}).window, 2 * MiB);
  EXPECT_EQ(memory_for_rounds(settings, {4, 8 * MiB, 4 * MiB, 16 * MiB}).window, 3 * MiB);
  // Too little of /dev/shm is messages; too little of the bound is small rounds.
  EXPECT_EQ(memory_for_rounds(settings, {4, 8 * MiB, 0, 64 * KiB}).round_that_fits, 0);
  EXPECT_EQ(memory_for_rounds(settings, {4, 0, 0, 1024 * MiB}).round_that_fits, 1);
}

}  // namespace
}  // namespace forebay
