// What a clipped cursor yields, against its runs cut one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "../engine/run_list_cursor.hpp"
#include "request/clipped_cursor.hpp"

namespace forebay {
namespace {

TEST(ClippedCursor, YieldsWhatLiesInTheRangeOrWhatDoesNot) {
  std::mt19937 random(5);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<forebay::Run> runs;
    std::int64_t stream = 0;
    for (std::int64_t at = below(300); at < 4000; at += 1 + below(200)) {
      const std::int64_t length = 1 + below(trial % 3 == 0 ? 900 : 30);
      runs.push_back({at, stream, length});
      at += length;
      stream += length;
    }
    std::vector<Extent> ranges;
    for (std::int64_t at = below(20) * 100; at < 5000 && std::ssize(ranges) < trial % 5;) {
      ranges.push_back({at, at + (1 + below(15)) * 100});
      at = ranges.back().end + (1 + below(6)) * 100;
    }
    const bool inside = trial % 2 == 0;
    // By byte: where in the stream it comes from; -1: it is not put.
    std::vector<std::int64_t> expected(6000, -1), found(6000, -1);
    for (const forebay::Run& run : runs) {
      for (std::int64_t i = 0; i < run.length; ++i) {
        const std::int64_t at = run.file + i;
        const bool within =
            std::ranges::any_of(ranges, [&](const Extent& e) { return e.begin <= at && at < e.end; });
        if (within == inside) expected[static_cast<std::size_t>(at)] = run.stream + i;
      }
    }
    test::RunListCursor whole(runs);
    ClippedCursor cursor(whole, ranges, inside ? ClippedCursor::Side::inside : ClippedCursor::Side::outside);
    const std::int64_t round = 500;
    cursor.start(round);
    std::vector<forebay::Run> out(static_cast<std::size_t>(1 + below(5)));
    for (std::int64_t next; (next = cursor.peek()) != kNoOffset;) {
      const std::int64_t limit = (next / round + 1) * round;
      while (const std::size_t n = cursor.take(limit, out)) {
        for (std::size_t r = 0; r < n; ++r) {
          ASSERT_GE(out[r].file, next);
          ASSERT_LE(out[r].file + out[r].length, limit);
          ASSERT_TRUE(cursor.hull().begin <= out[r].file && out[r].file + out[r].length <= cursor.hull().end);
          for (std::int64_t i = 0; i < out[r].length; ++i) {
            auto& byte = found[static_cast<std::size_t>(out[r].file + i)];
            ASSERT_EQ(byte, -1);
            byte = out[r].stream + i;
          }
        }
      }
    }
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace forebay
