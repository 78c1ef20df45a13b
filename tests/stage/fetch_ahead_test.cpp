// What is fetched before anybody asks: which steps are seen, and that a thread and readers share the work.
#include <gmock/gmock.h>

#include <array>

#include "../dice.hpp"
#include "stage/fetch_ahead.hpp"
#include "stage/staged_storage.hpp"
#include "stage/steps.hpp"
#include "stage_tools.hpp"

namespace test {
namespace {

constexpr std::int64_t kSize = 50 * kUnit + 5;

void expect_next(Steps& steps, Extent now, Extent next) {
  const Extent guess = steps.next(now);
  EXPECT_EQ(guess.begin, next.begin) << "after [" << now.begin << ", " << now.end << ")";
  EXPECT_EQ(guess.end, next.end);
}

TEST(Steps, of_one_read_after_the_other) {
  Steps steps;
  expect_next(steps, {100, 200}, {});
  expect_next(steps, {200, 350}, {350, 500});
  expect_next(steps, {350, 400}, {400, 450});
  expect_next(steps, {7, 9}, {});
}

TEST(Steps, that_are_equal) {
  Steps steps;
  expect_next(steps, {0, 10}, {});
  expect_next(steps, {1000, 1010}, {});
  expect_next(steps, {2000, 2010}, {3000, 3010});
  expect_next(steps, {3000, 3010}, {4000, 4010});
  expect_next(steps, {3500, 3510}, {});
}

TEST(Steps, of_several_variables_by_turns) {
  Steps steps;
  constexpr std::array<std::int64_t, 5> at{0, 50'000, 91'000, 120'000, 777'000};
  for (std::int64_t time = 0; time < 6; ++time) {
    for (std::size_t variable = 0; variable < at.size(); ++variable) {
      const std::int64_t length = 100 + static_cast<std::int64_t>(variable);
      const std::int64_t begin = at[variable] + time * length * 3;
      const Extent next{begin + 3 * length, begin + 4 * length};
      expect_next(steps, {begin, begin + length}, time < 2 ? Extent{} : next);
    }
  }
}

TEST(Steps, are_not_seen_in_random_reads_that_go_back) {
  Steps steps;
  Dice dice(5);
  int guesses = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t begin = dice.below(1'000'000'000);
    if (!steps.next({begin, begin + 100}).empty()) ++guesses;
  }
  EXPECT_LT(guesses, 5);
  EXPECT_TRUE(steps.next({}).empty());
}

struct Ahead {
  explicit Ahead(const StagedFile& f, std::int64_t most = 64 << 20) : name(f.find()) {
    fetches = std::make_unique<FetchAhead>(f.attach(name),
                                           Descriptor(::open(f.path.c_str(), O_RDONLY | O_CLOEXEC)), most);
    stage = f.attach(name);
  }
  std::string name;
  std::unique_ptr<FetchAhead> fetches;
  std::unique_ptr<NodeStage> stage;
};

TEST(FetchAhead, fetches_what_it_is_told) {
  StagedFile f(kSize);
  Ahead a(f);
  const std::array<Extent, 3> ranges{{{3 * kUnit + 7, 5 * kUnit}, {kSize - 1, kSize + 100}, {9, 9}}};
  a.fetches->want(ranges);
  a.fetches->wait();
  EXPECT_EQ(a.fetches->tally().fetched_bytes, 2 * kUnit + 5);
  EXPECT_TRUE(a.stage->has(3 * kUnit, 5 * kUnit));
  f.expect(*a.stage, 3 * kUnit, 2 * kUnit);
  EXPECT_EQ(f.below->reads, 0);
  EXPECT_FALSE(a.stage->has(2 * kUnit, 3 * kUnit));
}

TEST(FetchAhead, leaves_out_the_oldest_where_too_much_waits) {
  StagedFile f(kSize);
  Ahead a(f, 4 * kUnit);
  std::vector<Extent> ranges;
  for (std::int64_t unit = 0; unit < 40; ++unit) ranges.push_back({unit * kUnit, (unit + 1) * kUnit});
  a.fetches->want(ranges);
  a.fetches->wait();
  EXPECT_EQ(a.fetches->tally().fetched_bytes, 4 * kUnit);
  EXPECT_TRUE(a.stage->has(36 * kUnit, 40 * kUnit));
  const std::array<Extent, 1> large{{{0, 5 * kUnit}}};
  a.fetches->want(large);
  a.fetches->wait();
  EXPECT_TRUE(a.stage->has(0, 4 * kUnit));
  EXPECT_EQ(a.fetches->tally().fetched_bytes, 8 * kUnit);
}

TEST(FetchAhead, and_readers_fetch_each_unit_once) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StagedFile f(kSize);
    Ahead a(f);
    Dice dice(seed);
    const std::array<Extent, 1> all{{{0, kSize}}};
    a.fetches->want(all);
    for (int i = 0; i < 20; ++i) f.expect(*a.stage, dice.below(kSize), dice.between(1, 4 * kUnit));
    a.fetches->wait();
    f.expect(*a.stage, 0, kSize);
    EXPECT_EQ(a.fetches->tally().fetched_bytes + f.tally.fetched_bytes, kSize);
  }
}

TEST(FetchAhead, stops_at_once) {
  for (int i = 0; i < 20; ++i) {
    StagedFile f(kSize);
    Ahead a(f);
    const std::array<Extent, 1> all{{{0, kSize}}};
    a.fetches->want(all);
    a.fetches.reset();
    f.expect(*a.stage, 0, kSize);
  }
}

TEST(StagedStorage, counts_and_reads_past_the_stage_what_this_process_has_written) {
  StagedFile f(kSize);
  Counters counters;
  bool may_change = false;
  const auto staged = make_staged_storage(*f.below, f.stage(), counters, [&] { return may_change; });
  std::byte first{};
  const auto expect_version = [&](int version) {
    ASSERT_TRUE(staged->read(5, &first, 1).ok());
    EXPECT_EQ(first, byte_at(5, version));
  };
  expect_version(0);
  expect_version(0);
  EXPECT_EQ(counters.stage_fetches, 1);
  EXPECT_EQ(counters.stage_fetched_bytes, kUnit);
  EXPECT_EQ(counters.stage_reads, 1);
  EXPECT_EQ(counters.stage_read_bytes, 1);
  f.write_version(1, 1'600'000'001);
  expect_version(0);
  may_change = true;
  expect_version(1);
  may_change = false;
  expect_version(1);
}

}  // namespace
}  // namespace test
