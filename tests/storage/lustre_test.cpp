// What values of lustre.lov mean, those that are none included.
#include "storage/lustre.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "lov_values.hpp"

namespace forebay {
namespace {

using test::Component;
using test::composite;
using test::record;

constexpr std::int64_t kMega = 1 << 20;
constexpr std::int64_t kGiga = std::int64_t{1} << 30;
constexpr std::uint64_t kEnd = ~std::uint64_t{0};

void expect(const std::vector<std::byte>& value, std::int64_t size, std::int64_t unit, std::int64_t factor) {
  const Striping striping = stripes_in(value, size);
  EXPECT_EQ(striping.unit, unit);
  EXPECT_EQ(striping.factor, factor);
}

TEST(LustreLayout, OfOneRecord) {
  expect(record(1, 4 * kMega, 16), 0, 4 * kMega, 16);
  expect(record(3, kMega, 1), 0, kMega, 1);
  expect(record(1, kMega, 0xFFFF), 0, kMega, 0);
  expect(record(1, 0, 4), 0, 0, 0);
  expect(record(1, 1000, 4), 0, 0, 0);
  expect(record(1, kMega, 1, 0x100), 0, 0, 0);
}

// As sites set it: what is small on the metadata server, some targets, then many.
TEST(LustreLayout, ProgressiveLayoutsByWhereMostDataLies) {
  const auto value = composite({{0, kMega, record(1, kMega, 1, 0x100)},
                                {kMega, 4 * kGiga, record(1, kMega, 4)},
                                {4 * kGiga, kEnd, record(3, 4 * kMega, 32)}});
  expect(value, 0, kMega, 4);
  expect(value, 5 * kGiga, kMega, 4);
  expect(value, 9 * kGiga, 4 * kMega, 32);
  const auto early =
      composite({{0, 100 * kMega, record(1, 64 << 10, 1)}, {100 * kMega, kEnd, record(1, kMega, 8)}});
  expect(early, 0, kMega, 8);
  expect(early, 50 * kMega, kMega, 8);
}

TEST(LustreLayout, MirrorsAndOtherComponentsWithoutData) {
  const auto value = composite({{0, kEnd, record(1, 2 * kMega, 2), 0x1},
                                {0, kEnd, record(1, 3 * kMega, 3), 0x10},
                                {0, kEnd, record(1, 5 * kMega, 5)},
                                {0, kEnd, record(1, 6 * kMega, 6), 0x80}});
  expect(value, 0, 3 * kMega, 3);
  expect(composite({}), 0, 0, 0);
  expect(composite({{kMega, kMega, record(1, kMega, 2)}, {5, 3, record(1, kMega, 2)}}), 0, 0, 0);
}

TEST(LustreLayout, WhatIsCutOffSaysNothingWrong) {
  const auto value = composite({{0, kMega, record(1, kMega, 1)}, {kMega, kEnd, record(3, 4 * kMega, 32)}});
  for (std::size_t bytes = 0; bytes < value.size(); ++bytes) {
    const std::vector<std::byte> part(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(bytes));
    const Striping striping = stripes_in(part, 0);
    const std::pair got{striping.unit, striping.factor};
    EXPECT_TRUE(got == std::pair(std::int64_t{0}, std::int64_t{0}) ||
                got == std::pair(std::int64_t{kMega}, std::int64_t{1}) ||
                got == std::pair(std::int64_t{4 * kMega}, std::int64_t{32}));
  }
}

// The address sanitizer sees what is read past the end.
TEST(LustreLayout, AnyBytes) {
  std::mt19937_64 rng(3);
  const auto good = composite({{0, kMega, record(1, kMega, 1)}, {kMega, kEnd, record(3, 4 * kMega, 32)}});
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<std::byte> value = good;
    for (int i = 0; i < 6; ++i) value[rng() % value.size()] = static_cast<std::byte>(rng());
    value.resize(rng() % (value.size() + 1));
    value.shrink_to_fit();
    const Striping striping = stripes_in(value, static_cast<std::int64_t>(rng() >> 2));
    EXPECT_GE(striping.unit, 0);
    EXPECT_EQ(striping.unit % 4096, 0);
    EXPECT_GE(striping.factor, 0);
  }
}

TEST(LustreLayout, WhatIsAskedForIsReadBack) {
  const auto asked = [](std::int64_t unit, std::int64_t factor) {
    const auto value = layout_value({unit, factor});
    EXPECT_EQ(value.size(), 32U);
    return value;
  };
  expect(asked(kMega, 8), 0, kMega, 8);
  expect(asked(kMega + 1, 8), 0, kMega + (64 << 10), 8);
  expect(asked(std::int64_t{1} << 40, 1 << 20), 0, 4 * kGiga - (64 << 10), 0xFFFE);
  // Either may be left to Lustre.
  EXPECT_EQ(asked(0, 8), record(1, 0, 8, 1, 0xFFFF));
  EXPECT_EQ(asked(kMega, 0), record(1, kMega, 0, 1, 0xFFFF));
}

}  // namespace
}  // namespace forebay
