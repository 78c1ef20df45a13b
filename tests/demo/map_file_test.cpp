// Recorded maps: dealt out to any number of ranks, and refused with a reason where they are broken.
#include "map_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "classic_writer.hpp"

namespace forebay::bench {
namespace {

using test::ClassicWriter;
using ::testing::HasSubstr;

using Lists = std::vector<std::vector<Piece>>;  // by process

// Two decompositions over three processes; process 1 has nothing of D2, and nobody writes D2's last elements.
const Lists first_lists = {{{0, 2}, {6, 1}}, {{2, 4}}, {{7, 3}}};
const Lists second_lists = {{{11, 1}, {0, 2}, {4, 1}}, {}, {{2, 2}, {5, 3}}};

void add(ClassicWriter& file, const std::string& name, const std::vector<std::int64_t>& dims,
         const Lists& lists, int type) {
  ClassicWriter::Variable nreqs{name + ".nreqs", {1}, ClassicWriter::int32, {}};
  ClassicWriter::Variable offsets{name + ".offsets", {}, type, {}}, lengths{name + ".lengths", {}, type, {}};
  for (const auto& list : lists) {
    nreqs.values.push_back(static_cast<std::int64_t>(list.size()));
    for (const Piece& piece : list) {
      offsets.values.push_back(piece.offset);
      lengths.values.push_back(piece.length);
    }
  }
  file.dimensions.emplace_back(name + ".total_nreqs", static_cast<std::int64_t>(offsets.values.size()));
  offsets.dimensions = lengths.dimensions = {static_cast<int>(file.dimensions.size()) - 1};
  file.attributes.emplace_back(name + ".dims", dims);
  for (auto& one : {nreqs, offsets, lengths}) file.variables.push_back(one);
}

ClassicWriter good_map(int type = ClassicWriter::int32) {
  ClassicWriter file;
  file.dimensions = {{"num_decomp", 2}, {"decomp_nprocs", 3}};
  add(file, "D1", {10}, first_lists, type);
  add(file, "D2", {3, 5}, second_lists, type);
  return file;
}

class MapFileTest : public ::testing::Test {
 protected:
  std::string save(const std::string& bytes) {
    std::filesystem::remove(
        path_);  // some file systems flush a file that is cut to nothing and written again
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }
  std::string save(const ClassicWriter& file) { return save(file.bytes()); }

  void expect_refused(const ClassicWriter& file, const std::string& why) {
    const std::string path = save(file);
    try {
      MapFile(path).cut(0, 1);
      FAIL() << "accepted, though " << why;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
  }

  std::string path_ = ::testing::TempDir() + "map_file_test.nc";
};

TEST_F(MapFileTest, GivesEachRecordedProcessItsList) {
  for (const int type : {ClassicWriter::int32, ClassicWriter::int64}) {
    const MapFile map(save(good_map(type)));
    EXPECT_EQ(map.processes(), 3);
    for (int rank = 0; rank < 3; ++rank) {
      const std::vector<Decomposition> cuts = map.cut(rank, 3);
      ASSERT_EQ(cuts.size(), 2u);
      EXPECT_EQ(cuts[0].shape, Shape({10}));
      EXPECT_EQ(cuts[1].shape, Shape({3, 5}));
      EXPECT_EQ(cuts[0].pieces, first_lists[static_cast<std::size_t>(rank)]);
      EXPECT_EQ(cuts[1].pieces, second_lists[static_cast<std::size_t>(rank)]);
    }
  }
}

TEST_F(MapFileTest, DealsListsOutToAnyNumberOfRanks) {
  const MapFile map(save(good_map()));
  std::vector<Piece> first, second;
  for (const auto& list : first_lists) first.insert(first.end(), list.begin(), list.end());
  for (const auto& list : second_lists) second.insert(second.end(), list.begin(), list.end());
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 16, 100}) {
    std::vector<Piece> got[2];
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<Decomposition> cuts = map.cut(rank, ranks);
      for (std::size_t k = 0; k < 2; ++k)
        got[k].insert(got[k].end(), cuts[k].pieces.begin(), cuts[k].pieces.end());
    }
    EXPECT_EQ(got[0], first) << ranks;
    EXPECT_EQ(got[1], second) << ranks;
  }
  // More ranks than processes: a list is shared by neighbours, not left to one.
  EXPECT_EQ(map.cut(0, 6)[0].pieces, (std::vector<Piece>{{0, 2}}));
  EXPECT_EQ(map.cut(1, 6)[0].pieces, (std::vector<Piece>{{6, 1}}));
}

TEST_F(MapFileTest, SaysWhatIsWrong) {
  ClassicWriter file = good_map();
  file.dimensions[0].first = "num_decompositions";
  expect_refused(file, "it has no dimension num_decomp");
  file = good_map();
  file.dimensions[0].second = 3;
  expect_refused(file, "it has no variable D3.offsets");
  file = good_map();
  file.attributes.pop_back();
  expect_refused(file, "it has no attribute D2.dims");
  file = good_map();
  file.attributes[1].second = {3, -5};
  expect_refused(file, "D2.dims is not a shape");
  file = good_map();
  file.attributes[1].second = std::vector<std::int64_t>(12, 1 << 30);
  expect_refused(file, "D2.dims is not a shape");
  file = good_map();
  file.variables[0].values = {2, 1, 2};
  expect_refused(file, "asks for more requests");
  file = good_map();
  file.variables[0].values = {1, 1, 1};
  expect_refused(file, "sums up to 3, but there are 4 offsets");
  file = good_map();
  file.variables[0].values = {-1, 3, 2};
  expect_refused(file, "asks for more requests");
  file = good_map();
  file.variables[1].values[3] = 8;
  expect_refused(file, "request 3 of D1 (3 elements at 8) lies outside its 10 elements");
  file = good_map();
  file.variables[2].values[0] = 0;
  expect_refused(file, "request 0 of D1 (0 elements at 0)");
  file = good_map();
  file.variables[1].type = ClassicWriter::real32;
  expect_refused(file, "does not hold integers");
}

TEST_F(MapFileTest, TellsOtherFilesFromMaps) {
  EXPECT_THROW(MapFile("/nowhere/map.nc"), std::runtime_error);
  EXPECT_THROW(MapFile(::testing::TempDir()), std::runtime_error);
  const auto message = [&](const std::string& bytes) -> std::string {
    try {
      MapFile map(save(bytes));
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message("\x89HDF\r\n\x1a\n and so on"), HasSubstr("HDF5"));
  EXPECT_THAT(message("version 2001 npes 16"), HasSubstr("is not a netCDF file"));
  EXPECT_THAT(message("CDF\3\0\0\0\0\0\0"), HasSubstr("format version 3"));
  EXPECT_THAT(message(""), HasSubstr("cut short"));
}

TEST_F(MapFileTest, NoticesEveryMissingByte) {
  const std::string whole = good_map().bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    save(whole.substr(0, length));
    EXPECT_THROW(MapFile(path_).cut(0, 1), std::runtime_error) << length << " of " << whole.size();
  }
}

// Whatever a byte is turned into: a reason, or lists that lie within their arrays; never a crash.
TEST_F(MapFileTest, SurvivesDamage) {
  const std::string whole = good_map().bytes();
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const MapFile map(save(damaged));
      for (const Decomposition& cut : map.cut(0, 2))
        for (const Piece& piece : cut.pieces) {
          ASSERT_GE(piece.offset, 0);
          ASSERT_LE(piece.offset + piece.length, volume(cut.shape));
        }
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace forebay::bench
