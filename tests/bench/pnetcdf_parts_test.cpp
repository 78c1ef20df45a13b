// The parts of the PnetCDF benchmark: whether a difference between files is seen, its rows and peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "classic_writer.hpp"
#include "compare_files.hpp"
#include "pnetcdf_peers.hpp"
#include "pnetcdf_rows.hpp"

namespace forebay::bench {
namespace {

using test::ClassicWriter;
using ::testing::HasSubstr;

// One record variable of integers over 6 elements, of which nobody puts the last two.
class CompareFilesTest : public ::testing::Test {
 protected:
  CompareFilesTest() {
    file_.records = 3;
    file_.dimensions = {{"time", 0}, {"x", 6}};
    file_.variables = {{"field", {0, 1}, ClassicWriter::int32, std::vector<std::int64_t>(18, 0)}};
    for (std::size_t i = 0; i < 18; ++i)
      if (i % 6 < 4) file_.variables[0].values[i] = 0x01020304;
    file_.save(one_);
  }

  FileComparison compare() {
    file_.save(two_);
    return compare_files(one_, two_);
  }

  ClassicWriter file_;
  std::string one_ = ::testing::TempDir() + "bench_one", two_ = ::testing::TempDir() + "bench_two";
};

TEST_F(CompareFilesTest, CountsWhatWasPut) {
  EXPECT_TRUE(compare().same());
  EXPECT_EQ(bytes_put(one_), 3 * 4 * 4);
}

TEST_F(CompareFilesTest, TellsLostBytesFromUntouchedOnes) {
  file_.variables[0].values[3] = 0x01020305;
  EXPECT_EQ(compare().differences, 1);
  EXPECT_THAT(compare().first, HasSubstr("among the records"));
  file_.variables[0].values[4] = 7;
  EXPECT_EQ(compare().differences, 1);
  EXPECT_EQ(compare().untouched, 1);
  EXPECT_FALSE(compare().same());
}

TEST_F(CompareFilesTest, SeesHeaderAndLength) {
  file_.dimensions[1].first = "y";
  EXPECT_EQ(compare().differences, 1);
  EXPECT_THAT(compare().first, HasSubstr("in the header"));
  file_.dimensions[1].first = "x";
  file_.save(two_);
  std::ofstream(two_, std::ios::app) << '\0';
  EXPECT_THAT(compare_files(one_, two_).first, HasSubstr("length"));
}

TEST_F(CompareFilesTest, SeesEveryByte) {
  const std::string whole = file_.bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(two_, std::ios::binary) << damaged;
    EXPECT_FALSE(compare_files(one_, two_).same()) << at;
  }
}

TEST(Rows, AFewAreQuick) {
  std::size_t quick = 0;
  for (const RowInfo& row : pnetcdf_rows()) quick += row.quick ? 1 : 0;
  EXPECT_LE(quick, 10u);
}

TEST(Peers, FollowTheVersion) {
  const auto find = [](const std::vector<Peer>& peers, const std::string& name) -> const Peer* {
    for (const Peer& peer : peers)
      if (peer.name == name) return &peer;
    return nullptr;
  };
  const std::vector<Peer> old = pnetcdf_peers("1.14.0", "romio341"),
                          fresh = pnetcdf_peers("1.15.1", "romio341");
  EXPECT_EQ(old.front().kind, Kind::Reference);
  EXPECT_EQ(find(old, "own"), nullptr);
  ASSERT_NE(find(fresh, "own"), nullptr);
  EXPECT_TRUE(find(fresh, "own")->hints.empty());
  EXPECT_THAT(find(fresh, "romio")->hints, ::testing::Contains("nc_driver=mpiio"));
  EXPECT_TRUE(find(old, "romio")->hints.empty());
  for (const Peer& peer : old) EXPECT_NE(find(fresh, peer.name), nullptr);
}

}  // namespace
}  // namespace forebay::bench
