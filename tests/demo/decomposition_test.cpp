// Piece lists and boxes against slow, obvious versions.
#include "decomposition.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace forebay::bench {
namespace {

TEST(Ascending, SortsJoinsAndDropsRepeats) {
  EXPECT_EQ(ascending({{7, 2}, {0, 3}, {3, 1}, {8, 4}, {20, 1}, {20, 1}}),
            (std::vector<Piece>{{0, 4}, {7, 5}, {20, 1}}));
  EXPECT_EQ(ascending({{5, 10}, {6, 2}}), (std::vector<Piece>{{5, 10}}));
  EXPECT_TRUE(ascending({}).empty());
}

TEST(Ascending, HoldsTheSameElements) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Piece> pieces;
    std::set<std::int64_t> elements;
    for (int i = 0; i < 20; ++i) {
      pieces.push_back(
          {static_cast<std::int64_t>(random() % 100), static_cast<std::int64_t>(random() % 5 + 1)});
      for (std::int64_t e = 0; e < pieces.back().length; ++e) elements.insert(pieces.back().offset + e);
    }
    const std::vector<Piece> joined = ascending(pieces);
    ASSERT_EQ(element_count(joined), static_cast<std::int64_t>(elements.size()));
    for (std::size_t i = 0; i < joined.size(); ++i) {
      if (i > 0) {
        ASSERT_GT(joined[i].offset, joined[i - 1].offset + joined[i - 1].length);
      }
      for (std::int64_t e = 0; e < joined[i].length; ++e)
        ASSERT_TRUE(elements.contains(joined[i].offset + e));
    }
  }
}

TEST(Boxes, CoverARunOnceAndInOrder) {
  for (const Shape& shape : {Shape{12}, Shape{4, 5}, Shape{3, 1, 4}, Shape{2, 3, 2, 3}}) {
    const std::int64_t all = volume(shape);
    for (std::int64_t offset = 0; offset < all; ++offset) {
      for (std::int64_t length = 1; offset + length <= all; ++length) {
        std::int64_t next = offset;
        for_each_box(shape, {offset, length}, [&](auto start, auto count) {
          // Walk the box in row-major order: it has to continue the run.
          Shape at(start.begin(), start.end());
          for (std::int64_t left = volume(count); left > 0; --left) {
            std::int64_t flat = 0;
            for (std::size_t d = 0; d < shape.size(); ++d) {
              ASSERT_LT(at[d], shape[d]);
              flat = flat * shape[d] + at[d];
            }
            ASSERT_EQ(flat, next++);
            for (std::size_t d = shape.size(); d-- > 0;) {
              if (++at[d] < start[d] + count[d]) break;
              at[d] = start[d];
            }
          }
        });
        ASSERT_EQ(next, offset + length);
      }
    }
  }
}

TEST(Boxes, TakeWholeRowsTogether) {
  int boxes = 0;
  for_each_box(Shape{10, 8}, {3, 60}, [&](auto, auto) { ++boxes; });
  EXPECT_EQ(boxes, 3);
}

TEST(Coverage, KnowsWhatIsMissing) {
  Coverage coverage(10);
  coverage.add(std::vector<Piece>{{0, 4}, {6, 2}});
  coverage.add(std::vector<Piece>{{3, 2}});
  EXPECT_EQ(coverage.missing(), 3);
  EXPECT_TRUE(coverage.holds(4));
  EXPECT_FALSE(coverage.holds(5));
}

}  // namespace
}  // namespace forebay::bench
