// The pool against the obvious: what is kept is written as the caller's memory stood at the call, in order,
// and what does not fit leaves nothing behind.
#include "request/pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "request/piece_cursor.hpp"
#include "request/strided.hpp"

namespace forebay {
namespace {

// The file that puts make, written run by run in the order of a walk.
struct Image {
  std::vector<std::byte> bytes = std::vector<std::byte>(1 << 16);
  Source* source = nullptr;

  static void write(void* context, const Run& run) {
    auto& image = *static_cast<Image*>(context);
    image.source->produce({&run, 1}, image.bytes.data(), 0);
  }
  void put(const Put& put) {
    source = put.source;
    put.cursor->walk(&write, this);
  }
};

std::vector<std::byte> random_bytes(std::mt19937& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

PieceListPtr random_list(std::mt19937& random, bool ascending, std::int64_t& elements) {
  PieceListBuilder builder;
  elements = 0;
  std::int64_t at = 0;
  for (int i = 0; i < 40; ++i) {
    const auto length = static_cast<std::int64_t>(1 + random() % 5);
    at = ascending ? at + static_cast<std::int64_t>(random() % 7) : static_cast<std::int64_t>(random() % 900);
    builder.add(at, length);
    at += length;
    elements += length;
  }
  return builder.finish();
}

TEST(Pool, KeepsWhatWasPut) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    SCOPED_TRACE(seed);
    Pool pool(1 << 20);
    Image expected;
    std::int64_t begin = kNoOffset, end = 0;
    for (int call = 0; call < 50; ++call) {
      std::unique_ptr<Cursor> cursor;
      std::int64_t elements = 0;
      const std::int64_t base = static_cast<std::int64_t>(random() % 40000);
      if (random() % 2 == 0) {
        const std::array<StridedDim, 2> dims{StridedDim{100, 1 + static_cast<std::int64_t>(random() % 5)},
                                             StridedDim{9, 1 + static_cast<std::int64_t>(random() % 8)}};
        cursor = std::make_unique<StridedCursor>(base, 0, 4, dims);
      } else {
        PieceMapping mapping{base, 4, 0, 0};
        if (random() % 2 == 0) mapping = {base, 4, 100, 900};
        cursor = std::make_unique<PieceListCursor>(random_list(random, random() % 2 == 0, elements), mapping);
      }
      std::vector<std::byte> data = random_bytes(random, static_cast<std::size_t>(cursor->stream_bytes()));
      const Swap swap = random() % 2 == 0 ? Swap::none : Swap::four;
      MemorySource source(data.data(), swap);
      const Put put{cursor.get(), &source};
      const bool keeps = random() % 4 != 0;
      ASSERT_TRUE(pool.stage({&put, 1}));
      if (keeps) {
        expected.put(put);
        pool.keep();
        begin = std::min(begin, cursor->hull().begin);
        end = std::max(end, cursor->hull().end);
      } else {
        pool.forget_staged();
      }
      std::fill(data.begin(), data.end(), std::byte{0xee});  // the memory is the caller's again
      if (random() % 20 == 0) {
        Image flushed;
        pool.for_each([&](const Put& kept) { flushed.put(kept); });
        ASSERT_EQ(flushed.bytes, expected.bytes);
        pool.clear();
        EXPECT_TRUE(pool.empty());
        EXPECT_EQ(pool.bytes(), 0);
        expected = {};
        begin = kNoOffset, end = 0;
      }
    }
    std::vector<Put> puts;
    pool.append_to(puts);
    Image flushed;
    for (const Put& kept : puts) flushed.put(kept);
    EXPECT_EQ(flushed.bytes, expected.bytes);
    if (!pool.empty()) {
      EXPECT_EQ(pool.hull().begin, begin);
      EXPECT_EQ(pool.hull().end, end);
    }
  }
}

TEST(Pool, StaysWithinItsBound) {
  constexpr std::int64_t bound = 100000;
  Pool pool(bound);
  std::vector<std::byte> data(3000, std::byte{1});
  int kept = 0;
  for (int i = 0; i < 100; ++i) {
    StridedCursor cursor(0, 0, static_cast<std::int64_t>(data.size()), {});
    MemorySource source(data.data());
    const Put put{&cursor, &source};
    if (!pool.stage({&put, 1})) break;
    pool.keep();
    ++kept;
    EXPECT_LE(pool.bytes(), bound);
  }
  EXPECT_GT(kept, 25);  // nearly all of the bound is for data
  EXPECT_LT(kept, 34);
  int count = 0;
  pool.for_each([&](const Put&) { ++count; });
  EXPECT_EQ(count, kept);
  pool.clear();
  std::vector<std::byte> much(bound + 1);
  StridedCursor cursor(0, 0, bound + 1, {});
  MemorySource source(much.data());
  const Put put{&cursor, &source};
  EXPECT_FALSE(pool.stage({&put, 1}));
  EXPECT_TRUE(pool.empty());
}

// Large calls are better off with a flush of their own.
TEST(Pool, RefusesMoreThanTheCallerWants) {
  Pool pool(1 << 20);
  std::vector<std::byte> data(3000);
  StridedCursor cursor(0, 0, 3000, {});
  MemorySource source(data.data());
  const std::array<Put, 2> puts{Put{&cursor, &source}, Put{&cursor, &source}};
  EXPECT_FALSE(pool.stage({puts.data(), 1}, 2000));
  EXPECT_TRUE(pool.stage({puts.data(), 1}, 4000));
  pool.keep();
  EXPECT_FALSE(pool.stage(puts, 6000));
  EXPECT_TRUE(pool.stage(puts, 8000));  // what is kept does not count
}

// A list counts once, however many puts refer to it.
TEST(Pool, CountsSharedListsOnce) {
  PieceListBuilder builder;
  for (int i = 0; i < 10000; ++i) builder.add(3 * i + i % 2, 1);
  const PieceListPtr list = builder.finish();
  Pool pool(1 << 20);
  std::vector<std::byte> data(40000);
  std::int64_t first = 0;
  for (int i = 0; i < 5; ++i) {
    PieceListCursor cursor(list, {i * 1000000, 4, 0, 0});
    MemorySource source(data.data());
    const Put put{&cursor, &source};
    ASSERT_TRUE(pool.stage({&put, 1}));
    pool.keep();
    if (i == 0) first = pool.bytes();
  }
  EXPECT_GE(first, 40000 + static_cast<std::int64_t>(list->memory_bytes()));
  EXPECT_LT(pool.bytes(), 5 * 41000 + static_cast<std::int64_t>(list->memory_bytes()));
}

// Strided streams that are not a plain sequence cannot be copied as one.
TEST(Pool, RefusesStreamsWithGaps) {
  const std::array<StridedDim, 1> gaps{StridedDim{100, 3, 50}};
  StridedCursor cursor(0, 0, 4, gaps);
  EXPECT_EQ(cursor.stream_bytes(), -1);
  std::vector<std::byte> data(200);
  MemorySource source(data.data());
  const Put put{&cursor, &source};
  Pool pool(1 << 20);
  EXPECT_FALSE(pool.stage({&put, 1}));
}

}  // namespace
}  // namespace forebay
