// The generated decomposition: the grid's size and numbering, and that every element belongs to one rank.
#include "cubed_sphere.hpp"

#include <gtest/gtest.h>

namespace forebay::bench {
namespace {

std::vector<int> owners(const CubedSphere& sphere, std::size_t decomposition, int ranks) {
  std::vector<int> times;
  for (int rank = 0; rank < ranks; ++rank) {
    const Decomposition cut = sphere.cut(rank, ranks)[decomposition];
    times.resize(static_cast<std::size_t>(volume(cut.shape)));
    for (const Piece& piece : cut.pieces)
      for (std::int64_t e = 0; e < piece.length; ++e) ++times.at(static_cast<std::size_t>(piece.offset + e));
  }
  return times;
}

TEST(CubedSphere, HasTheColumnsOfASpectralElementGrid) {
  for (int ne = 1; ne <= 9; ++ne) EXPECT_EQ(CubedSphere(ne, 1).columns(), 54 * ne * ne + 2) << ne;
  EXPECT_EQ(CubedSphere(4, 72).columns(), 866);  // as in E3SM's recorded map
}

TEST(CubedSphere, GivesEveryElementToOneRank) {
  for (const int ne : {1, 2, 3, 4}) {
    const CubedSphere sphere(ne, 5);
    for (const int ranks : {1, 2, 3, 4, 7, 16, 61}) {
      for (std::size_t k = 0; k < 3; ++k) {
        const std::vector<int> times = owners(sphere, k, ranks);
        for (std::size_t e = 0; e < times.size(); ++e)
          ASSERT_EQ(times[e], 1) << "D" << k + 1 << " element " << e << ", ne " << ne << ", ranks " << ranks;
      }
    }
  }
}

TEST(CubedSphere, NumbersColumnsElementByElement) {
  // One element a rank: the first has all its 16 points, and none has more.
  const CubedSphere sphere(4, 1);
  int first = 0;
  for (int rank = 0; rank < 96; ++rank) {
    const std::vector<Piece> held = sphere.cut(rank, 96)[0].pieces;
    for (const Piece& piece : held) first += piece == Piece{0, 16};
    EXPECT_LE(element_count(held), 16);
    EXPECT_LE(held.size(), 1u);
  }
  EXPECT_EQ(first, 1);
}

// Rank boundaries cut the curve; an element and the next on a face of 4 x 4 are neighbours along Hilbert's
// curve, so that a quarter of a face is a square of 2 x 2.
TEST(CubedSphere, FollowsHilbertsCurve) {
  const CubedSphere sphere(4, 1);
  for (int quarter = 0; quarter < 24; ++quarter) {
    // Four elements make a square when they hold 2 runs of columns: 2 elements of one row, 2 of the next.
    EXPECT_LE(sphere.cut(quarter, 24)[0].pieces.size(), 2u) << quarter;
  }
}

TEST(CubedSphere, ScattersThePhysicsColumns) {
  const CubedSphere sphere(4, 72);
  for (const int ranks : {4, 16}) {
    const std::vector<Piece> joined = ascending(sphere.cut(1, ranks)[2].pieces);
    const double average = static_cast<double>(element_count(joined)) / static_cast<double>(joined.size());
    EXPECT_LT(average, 2.5) << ranks;
    for (const Piece& piece : sphere.cut(1, ranks)[2].pieces) ASSERT_EQ(piece.length, 1);
  }
}

TEST(CubedSphere, LeavesRanksIdleWhereThereIsTooLittle) {
  const CubedSphere sphere(1, 3);
  int idle = 0;
  for (int rank = 0; rank < 16; ++rank) idle += sphere.cut(rank, 16)[0].pieces.empty();
  EXPECT_GE(idle, 10);
}

}  // namespace
}  // namespace forebay::bench
