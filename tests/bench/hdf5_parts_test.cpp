// The parts of the HDF5 benchmark: whether a difference between files is seen, its rows and peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "compare_files.hpp"
#include "hdf5_id.hpp"
#include "hdf5_peers.hpp"
#include "hdf5_rows.hpp"

namespace forebay::bench {
namespace {

using ::testing::HasSubstr;

// One dataset of six integers, of which nobody puts the last two.
class CompareHdf5FilesTest : public ::testing::Test {
 protected:
  CompareHdf5FilesTest() { save(one_); }

  void save(const std::string& path) const {
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
    check_hdf5(H5Pset_obj_track_times(creation, false), "H5Pset_obj_track_times");
    const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
    const hsize_t length = 6;
    const Hdf5Id space(H5Screate_simple(1, &length, nullptr), "H5Screate_simple");
    const Hdf5Id set(H5Dcreate2(file, name_, H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                     "H5Dcreate2");
    check_hdf5(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values_), "H5Dwrite");
    const Hdf5Id scalar(H5Screate(H5S_SCALAR), "H5Screate"), text(H5Tcopy(H5T_C_S1), "H5Tcopy");
    for (const hid_t object : {hid_t{file}, hid_t{set}}) {
      const Hdf5Id attribute(H5Acreate2(object, attribute_, text, scalar, H5P_DEFAULT, H5P_DEFAULT),
                             "H5Acreate2");
      check_hdf5(H5Awrite(attribute, text, object == file ? title_ : unit_), "H5Awrite");
    }
  }
  FileComparison compare() {
    save(two_);
    return compare_hdf5_files(one_, two_);
  }

  const char *name_ = "field", *attribute_ = "units", *title_ = "T", *unit_ = "K";
  int values_[6] = {0x01020304, 0x01020304, 0x01020304, 0x01020304, 0, 0};
  std::string one_ = ::testing::TempDir() + "bench_one.h5", two_ = ::testing::TempDir() + "bench_two.h5";
};

TEST_F(CompareHdf5FilesTest, CountsWhatWasPut) {
  EXPECT_TRUE(compare().same());
  EXPECT_EQ(bytes_put_hdf5(one_), 4 * 4);
}

TEST_F(CompareHdf5FilesTest, TellsLostBytesFromUntouchedOnes) {
  values_[3] = 0x01020305;
  EXPECT_EQ(compare().differences, 1);
  EXPECT_EQ(compare().first, "field, element 3");
  values_[4] = 7;
  EXPECT_EQ(compare().differences, 1);
  EXPECT_EQ(compare().untouched, 1);
}

TEST_F(CompareHdf5FilesTest, SeesAttributes) {
  unit_ = "C";
  EXPECT_EQ(compare().first, "attribute units of dataset field");
  unit_ = "K";
  title_ = "U";
  EXPECT_EQ(compare().first, "attribute units of the file");
  attribute_ = "unit";
  EXPECT_EQ(compare().first, "the attributes of the file");
}

TEST_F(CompareHdf5FilesTest, SeesNamesLengthAndDamage) {
  name_ = "other";
  EXPECT_EQ(compare().first, "the names of the datasets");
  name_ = "field";
  save(two_);
  std::ofstream(two_, std::ios::app) << 'x';
  EXPECT_THAT(compare_hdf5_files(one_, two_).first, HasSubstr("length"));
  EXPECT_EQ(compare_hdf5_files(one_, two_).differences, 0);
  std::ofstream(two_) << "no HDF5";
  EXPECT_EQ(compare_hdf5_files(one_, two_).differences, 1);
}

TEST(Hdf5Rows, AFewAreQuick) {
  std::size_t quick = 0;
  for (const RowInfo& row : hdf5_rows()) quick += row.quick ? 1 : 0;
  EXPECT_LE(quick, 10u);
}

TEST(Hdf5Peers, EveryRowHasSomeOfEachKind) {
  for (const RowInfo& row : hdf5_rows()) {
    int stock = 0, strict = 0, commit = 0;
    for (const Peer& peer : hdf5_peers("romio341")) {
      for (const std::string& name : peer.rows) find_row(hdf5_rows(), name);
      if (!peer.quick || !peer.takes_part(std::string(row.name))) continue;
      stock += peer.kind == Kind::Stock;
      strict += peer.mode == "strict";
      commit += peer.mode == "commit";
    }
    EXPECT_GT(stock, 0) << row.name;
    EXPECT_GT(strict, 0) << row.name;
    EXPECT_GT(commit, 0) << row.name;
  }
  EXPECT_EQ(hdf5_peers("romio341").front().kind, Kind::Reference);
}

}  // namespace
}  // namespace forebay::bench
