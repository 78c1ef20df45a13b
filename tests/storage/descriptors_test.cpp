// Telling which file somebody has opened under a name.
#include "storage/descriptors.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "storage/file_system.hpp"

namespace forebay {
namespace {

class BeforeOpenTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 64> name{"/tmp/forebay_descriptors_XXXXXX"};
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home_ = std::filesystem::current_path();
    folder_ = name.data();
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    for (const int descriptor : open_) ::close(descriptor);
    std::filesystem::current_path(home_);
    std::filesystem::remove_all(folder_);
  }
  int open(const std::string& name) {
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    open_.push_back(descriptor);
    return descriptor;
  }

 private:
  std::filesystem::path home_;
  std::string folder_;
  std::vector<int> open_;
};

TEST_F(BeforeOpenTest, ThePlainName) {
  const BeforeOpen before("out");
  const int descriptor = open("out");
  const BeforeOpen::Found found = before.find();
  EXPECT_EQ(found.name, "out");
  EXPECT_EQ(found.descriptor, descriptor);
  FileId id;
  ASSERT_TRUE(id_of(descriptor, id));
  EXPECT_EQ(found.id, id);
}

TEST_F(BeforeOpenTest, WhateverElseIsOpenedMeanwhile) {
  const BeforeOpen before("out");
  open("other");
  const int descriptor = open("out");
  open("last");
  EXPECT_EQ(before.find().descriptor, descriptor);
}

TEST_F(BeforeOpenTest, NobodyHasOpenedIt) {
  open("other");
  ::close(::open("out", O_CREAT | O_RDWR, 0666));
  const BeforeOpen::Found found = BeforeOpen("out").find();
  EXPECT_EQ(found.name, "out");
  EXPECT_EQ(found.descriptor, -1);
  EXPECT_EQ(BeforeOpen("missing").find().name, "");
}

TEST_F(BeforeOpenTest, ANameThatWasReplaced) {
  const BeforeOpen before("out");
  open("out");
  std::filesystem::rename("out", "moved");
  std::ofstream("out") << "another";
  EXPECT_EQ(before.find().descriptor, -1);
}

TEST_F(BeforeOpenTest, TheWholeNameOrWhatIsBehindTheColon) {
  const int old = open("out");  // open before: that is not what was meant
  {
    const BeforeOpen before("case1:out");
    const int descriptor = open("case1:out");
    const BeforeOpen::Found found = before.find();
    EXPECT_EQ(found.name, "case1:out");
    EXPECT_EQ(found.descriptor, descriptor);
  }
  const BeforeOpen before("case1:out");
  EXPECT_EQ(before.find().name, "");
  const int cut = open("out");
  const BeforeOpen::Found found = before.find();
  EXPECT_EQ(found.name, "out");
  EXPECT_EQ(found.descriptor, cut);
  EXPECT_NE(found.descriptor, old);
  // Both were opened: it cannot be told.
  open("case1:out");
  EXPECT_EQ(before.find().name, "");
}

TEST_F(BeforeOpenTest, TwoNamesOfOneFile) {
  open("out");
  std::filesystem::create_hard_link("out", "case1:out");
  const BeforeOpen before("case1:out");
  open("out");
  EXPECT_EQ(before.find().name, "case1:out");  // the same file either way
}

TEST(FolderOf, Names) {
  EXPECT_EQ(folder_of("a"), ".");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("b/c:d/a"), "b/c:d");
}

}  // namespace
}  // namespace forebay
