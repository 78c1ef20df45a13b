// Who may change what a path leads to: modes, owners, links and folders on the way.
#include "trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace forebay::preload {
namespace {

namespace fs = std::filesystem;

class Trust : public testing::Test {
 protected:
  Trust() {
    std::string name = fs::temp_directory_path() / "forebay-trust-XXXXXX";
    folder_ = fs::canonical(mkdtemp(name.data()));
    fs::create_directories(folder_ / "a/b");
    std::ofstream(folder_ / "a/b/library") << "code";
    mode("a", 0755);
    mode("a/b", 0755);
    mode("a/b/library", 0644);
  }
  ~Trust() override { fs::remove_all(folder_); }
  void mode(const char* path, mode_t bits) { ASSERT_EQ(chmod((folder_ / path).c_str(), bits), 0); }
  /// What others may change on the way; empty where nothing.
  std::string changeable(const fs::path& path, const Keeper& keeper = {0, 0}) const {
    char where[PATH_MAX] = "";
    return others_may_change((folder_ / path).c_str(), keeper, where) ? where : std::string{};
  }
  std::string at(const char* path) const { return (folder_ / path).string(); }
  fs::path folder_;
};

TEST_F(Trust, WhatOnlyItsOwnerMayWriteIsFine) {
  EXPECT_EQ(changeable("a/b/library"), "");
  EXPECT_EQ(changeable("a/b"), "");
  EXPECT_EQ(changeable("a//b/./../b/library"), "");
  EXPECT_EQ(changeable("/bin/sh"), "");
}

TEST_F(Trust, WhatIsNotThereOrNoWholePathIsNotTrusted) {
  char where[PATH_MAX];
  for (const char* path : {"", "lib", "./lib"}) EXPECT_TRUE(others_may_change(path, {0, 0}, where)) << path;
  EXPECT_EQ(changeable("a/none/library"), at("a/none"));
}

TEST_F(Trust, EachFolderOnTheWayCounts) {
  for (const char* part : {"a", "a/b", "a/b/library"}) {
    mode(part, 0757);
    EXPECT_EQ(changeable("a/b/library"), at(part));
    mode(part, 0755);
  }
}

TEST_F(Trust, InAFolderForAllOnlyOnesOwnFilesAreTrusted) {
  mode("a/b", 01777);
  EXPECT_EQ(changeable("a/b/library"), "");
  EXPECT_EQ(changeable("a/b"), at("a/b")) << "anybody may put a file beside";
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(at("a/b/library").c_str(), 12345, 12345), 0);
  EXPECT_EQ(changeable("a/b/library"), at("a/b/library"));
}

TEST_F(Trust, LinksAreFollowedStepByStep) {
  fs::create_directory(folder_ / "shared");
  fs::create_symlink("../a/b", folder_ / "shared/link");
  fs::create_symlink(folder_ / "shared/link", folder_ / "first");
  EXPECT_EQ(changeable("first/library"), "");
  // The file itself is well kept, but who may write here decides which file it is.
  mode("shared", 0777);
  EXPECT_EQ(changeable("first/library"), at("shared"));
  mode("shared", 01777);
  EXPECT_EQ(changeable("first/library"), "");
  fs::create_symlink("turn", folder_ / "turn");
  EXPECT_EQ(changeable("turn"), at("turn"));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give links away";
  ASSERT_EQ(lchown(at("shared/link").c_str(), 12345, 12345), 0);
  EXPECT_EQ(changeable("first/library"), at("shared/link"));
}

TEST_F(Trust, OwnersAreOurselvesRootAndWhoKeepsTheCommand) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  ASSERT_EQ(chown(at("a").c_str(), 12345, 0), 0);
  EXPECT_EQ(changeable("a/b/library"), at("a"));
  EXPECT_EQ(changeable("a/b/library", {12345, 0}), "");
  EXPECT_EQ(changeable("a", keeper_of_named(at("a").c_str())), "");
  // As a command that root builds in somebody's checkout: whose that is, could replace the command.
  EXPECT_EQ(changeable("a/b/library", keeper_of(at("a/b/library").c_str())), "");
  EXPECT_EQ(changeable("a/b/library", keeper_of("/bin/sh")), at("a"));
}

TEST_F(Trust, AGroupIsOthersUnlessItKeepsTheCommand) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders to any group";
  ASSERT_EQ(chown(at("a").c_str(), 0, 12345), 0);
  EXPECT_EQ(changeable("a/b/library"), "");
  mode("a", 0775);
  EXPECT_EQ(changeable("a/b/library"), at("a"));
  EXPECT_EQ(changeable("a/b/library", {0, 12345}), "");
  EXPECT_EQ(changeable("a/b/library", keeper_of(at("a/b/library").c_str())), "");
  EXPECT_EQ(changeable("a", keeper_of_named(at("a").c_str())), "");
}

}  // namespace
}  // namespace forebay::preload
