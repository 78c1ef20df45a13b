// The comparison has to see what differs, and only that.
#include "compare.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "classic_file.hpp"
#include "classic_writer.hpp"
#include "hdf5_id.hpp"

namespace forebay::bench {
namespace {

using test::ClassicWriter;

// One record variable of floats over 6 elements, of which nobody writes the last two, and one scalar.
class CompareTest : public ::testing::Test {
 protected:
  CompareTest() {
    history_.records = 3;
    history_.dimensions = {{"x", 6}};
    history_.variables = {{"field", "", "", Type::Float, 0, true, {0}, 0},
                          {"count", "", "", Type::Int, -1, false, {}, 1}};
    coverage_.emplace_back(6);
    coverage_[0].add(std::vector<Piece>{{0, 4}});
    file_.records = 3;
    file_.dimensions = {{"time", 0}, {"x", 6}};
    file_.variables = {{"field", {0, 1}, ClassicWriter::real32, std::vector<std::int64_t>(18, 0)},
                       {"count", {}, ClassicWriter::int32, {5}}};
    for (std::size_t i = 0; i < 18; ++i)
      if (i % 6 < 4) file_.variables[0].values[i] = static_cast<std::int64_t>(i) + 100;
    file_.save(one_);
  }

  Comparison compare(bool untouched_is_zero = false) {
    file_.save(two_);
    return compare_pnetcdf(one_, two_, Written{history_, coverage_}, untouched_is_zero);
  }

  History history_;
  std::vector<Coverage> coverage_;
  ClassicWriter file_;
  std::string one_ = ::testing::TempDir() + "compare_one", two_ = ::testing::TempDir() + "compare_two";
};

TEST_F(CompareTest, FindsNothingInEqualFiles) {
  EXPECT_TRUE(compare().same());
  EXPECT_TRUE(compare(true).same());
}

TEST_F(CompareTest, NamesWhatDiffers) {
  file_.variables[0].values[8] = 1;
  Comparison found = compare();
  EXPECT_EQ(found.differences, 1);
  EXPECT_EQ(found.first, "field, record 1, element 2");
  file_.variables[1].values[0] = 6;
  EXPECT_EQ(compare().differences, 2);
}

TEST_F(CompareTest, PassesOverWhatNobodyWroteUnlessItHasToBeZero) {
  file_.variables[0].values[11] = 77;
  EXPECT_TRUE(compare().same());
  const Comparison found = compare(true);
  EXPECT_EQ(found.differences, 1);
  EXPECT_EQ(found.first, "field, record 1, element 5, which nobody wrote");
}

TEST_F(CompareTest, SeesTheHeaderAndTheSize) {
  file_.variables[0].name = "fiend";
  EXPECT_EQ(compare().first, "the header");
  file_.variables[0].name = "field";
  file_.records = 2;
  EXPECT_FALSE(compare().same());
}

TEST_F(CompareTest, SeesEveryByteOfACompleteFile) {
  coverage_[0].add(std::vector<Piece>{{4, 2}});
  const std::string whole = file_.bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(two_, std::ios::binary) << damaged;
    EXPECT_FALSE(compare_pnetcdf(one_, two_, Written{history_, coverage_}, true).same()) << at;
  }
}

TEST_F(CompareTest, VerifiesValues) {
  for (std::int64_t record = 0; record < 3; ++record) {
    float made[6];
    make_values(history_.variables[0], record, 0, 6, reinterpret_cast<std::byte*>(made));
    // The writer stores whole numbers only, so the made values go in by their bits.
    for (std::size_t i = 0; i < 6; ++i)
      file_.variables[0].values[static_cast<std::size_t>(record) * 6 + i] =
          std::bit_cast<std::int32_t>(made[i]);
  }
  std::int32_t number = 0;
  make_values(history_.variables[1], 0, 0, 1, reinterpret_cast<std::byte*>(&number));
  file_.variables[1].values[0] = number;
  file_.variables[0].type = ClassicWriter::int32;
  file_.save(one_);
  const Written written{history_, coverage_};
  EXPECT_TRUE(verify_pnetcdf(one_, written).same());
  file_.variables[0].values[5] = 0;  // nobody wrote it
  file_.save(one_);
  EXPECT_TRUE(verify_pnetcdf(one_, written).same());
  file_.variables[0].values[14] = 0;
  file_.save(one_);
  EXPECT_EQ(verify_pnetcdf(one_, written).first, "field, record 2, element 2");
}

TEST(ClassicFile, ReadsZeroBehindAFilesEnd) {
  ClassicWriter file;
  file.dimensions = {{"x", 4}};
  file.variables = {{"v", {0}, ClassicWriter::int32, {1, 2, 3, 4}}};
  const std::string path = ::testing::TempDir() + "classic_short", bytes = file.bytes();
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() - 8);
  const ClassicFile read(path);
  std::vector<std::byte> values(16, std::byte{9});
  read.read(read.variables()[0], 0, 0, values);
  EXPECT_EQ(values[7], std::byte{2});
  EXPECT_EQ(values[11], std::byte{0});
  EXPECT_THROW(read.read(read.variables()[0], 0, 1, values), std::runtime_error);
}

void write_hdf5(const std::string& path, int value_at_7, const char* unit = "K",
                const char* extra = nullptr) {
  const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  const hsize_t dims[2] = {3, 4};
  const Hdf5Id space(H5Screate_simple(2, dims, nullptr), "H5Screate_simple");
  const Hdf5Id scalar(H5Screate(H5S_SCALAR), "H5Screate");
  const Hdf5Id text(H5Tcopy(H5T_C_S1), "H5Tcopy");
  for (const char* name : {"field", extra}) {
    if (name == nullptr) continue;
    const Hdf5Id data(H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      "H5Dcreate2");
    int values[12] = {};
    values[7] = value_at_7;
    check_hdf5(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "H5Dwrite");
    const Hdf5Id attribute(H5Acreate2(data, "units", text, scalar, H5P_DEFAULT, H5P_DEFAULT), "H5Acreate2");
    check_hdf5(H5Awrite(attribute, text, unit), "H5Awrite");
  }
}

TEST(CompareHdf5, SeesValuesNamesAndAttributes) {
  const std::string one = ::testing::TempDir() + "compare_one.h5",
                    two = ::testing::TempDir() + "compare_two.h5";
  write_hdf5(one, 1);
  write_hdf5(two, 1);
  EXPECT_TRUE(compare_hdf5(one, two).same());
  write_hdf5(two, 2);
  EXPECT_EQ(compare_hdf5(one, two).first, "field, element 7");
  EXPECT_EQ(compare_hdf5(one, two).differences, 1);
  write_hdf5(two, 1, "C");
  EXPECT_EQ(compare_hdf5(one, two).first, "attribute units of dataset field");
  write_hdf5(two, 1, "K", "more");
  EXPECT_EQ(compare_hdf5(one, two).first, "the names of the datasets");
  EXPECT_FALSE(compare_hdf5(one, "/nowhere.h5").same());
  std::ofstream(two, std::ios::binary) << "no HDF5 file";
  EXPECT_FALSE(compare_hdf5(one, two).same());
}

}  // namespace
}  // namespace forebay::bench
