// Rules of a TOML file: which apply to a name, and what is said of mistakes.
#include "base/config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace forebay {
namespace {

using testing::HasSubstr;

class ConfigFileTest : public testing::Test {
 protected:
  Status read(const std::string& text) {
    std::ofstream(path_) << text;
    config_ = {};
    return ConfigFile::read(path_, config_);
  }
  Settings settings_of(std::string_view file) const {
    Settings settings;
    config_.apply(file, settings);
    return settings;
  }
  ~ConfigFileTest() override { std::filesystem::remove(path_); }

  std::string path_ = "config_file_test.toml";
  ConfigFile config_;
};

TEST_F(ConfigFileTest, LaterRulesWinAndOthersStay) {
  ASSERT_TRUE(read("[[file]]\nmatch = ['*.h5', '*.nc']\nmode = 'strict'\nstripe_bytes = '4m'\n"
                   "[[file]]\nmatch = '/data/*/b.h5'\nforebay_mode = 'commit'\n"
                   "[[file]]\nmatch = 'log.nc'\nenable = false\n")
                  .ok());
  EXPECT_EQ(config_.rules().size(), 3U);
  EXPECT_EQ(settings_of("a.h5").mode, Mode::strict);
  EXPECT_EQ(settings_of("a.h5").stripe_bytes, 4 << 20);
  EXPECT_EQ(settings_of("/data/x/y/b.h5").mode, Mode::commit);
  EXPECT_EQ(settings_of("/data/x/y/b.h5").stripe_bytes, 4 << 20);
  EXPECT_EQ(settings_of("/data/x/../x/b.h5").mode, Mode::commit);
  EXPECT_EQ(settings_of("/other/b.h5").mode, Mode::strict);
  EXPECT_FALSE(settings_of("some/log.nc").enabled);
  EXPECT_TRUE(settings_of("some/blog.nc").enabled);
  EXPECT_EQ(settings_of("a.dat").mode, Mode::automatic);
  EXPECT_EQ(settings_of("").mode, Mode::automatic);
}

TEST_F(ConfigFileTest, NamesWithoutAFolderAreSeenFromTheRootOn) {
  ASSERT_TRUE(
      read("[[file]]\nmatch = '" + std::filesystem::current_path().string() + "/*.h5'\ncommit_seconds = 7\n")
          .ok());
  EXPECT_EQ(settings_of("a.h5").commit_seconds, 7);
  EXPECT_EQ(settings_of("./sub/a.h5").commit_seconds, 7);
  EXPECT_NE(settings_of("/a.h5").commit_seconds, 7);
}

TEST_F(ConfigFileTest, MistakesAreToldWithTheirLine) {
  const auto says = [&](const std::string& text) { return read(text).message(); };
  EXPECT_THAT(says("[[file]]\nmatch = '*'\nmod = 'strict'\n"), HasSubstr("config_file_test.toml, line 3: "));
  EXPECT_THAT(says("[[file]]\nmatch = '*'\nmod = 'strict'\n"), HasSubstr("forebay_mode"));
  EXPECT_THAT(says("[[file]]\nmatch = '*'\nmode = 'stric'\n"), HasSubstr("line 3: "));
  EXPECT_THAT(says("[[file]]\nmatch = '*'\nmode = 1.5\n"), HasSubstr("line 3: "));
  EXPECT_THAT(says("[[file]]\nmode = 'strict'\n"), HasSubstr("has no match"));
  EXPECT_THAT(says("[[file]]\nmatch = ['a', 3]\n"), HasSubstr("line 2: a pattern"));
  EXPECT_THAT(says("[files]\nmatch = '*'\n"), HasSubstr("'files' stands outside a rule"));
  EXPECT_THAT(says("[file]\nmatch = '*'\n"), HasSubstr("each rule begins with [[file]]"));
  EXPECT_THAT(says("[[file]]\nmach = ['*']\n"),
              HasSubstr("line 2: unknown key \"mach\"; did you mean match?"));
  EXPECT_THAT(says("[[file]]\nmatch = '*'\nmoed = 'strict'\n"), HasSubstr("did you mean forebay_mode?"));
  EXPECT_THAT(says("[[file]]\nmatch = \n"), HasSubstr("line 2: "));
  ConfigFile none;
  EXPECT_THAT(ConfigFile::read("no/such.toml", none).message(), HasSubstr("no/such.toml"));
  EXPECT_TRUE(says("").empty());
}

}  // namespace
}  // namespace forebay
