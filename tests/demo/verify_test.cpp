// Stock's file has to hold the values that were to be written.
#include "verify.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "classic_file.hpp"
#include "classic_writer.hpp"

namespace forebay::bench {
namespace {

using test::ClassicWriter;

// One record variable of floats over 6 elements, of which nobody writes the last two, and one scalar.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
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

  History history_;
  std::vector<Coverage> coverage_;
  ClassicWriter file_;
  std::string one_ = ::testing::TempDir() + "verify_one";
};

TEST_F(VerifyTest, VerifiesValues) {
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

}  // namespace
}  // namespace forebay::bench
