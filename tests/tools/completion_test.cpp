// Shell completion: every command and option is in it, and bash completes what a user would type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "command.hpp"

namespace forebay::tools {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

using Completion = InFolder;

std::set<std::string> matches(const std::string& text, const char* expression) {
  std::set<std::string> found;
  const std::regex regex(expression);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

std::set<std::string> commands() {
  return matches(forebay_command({"--help"}).output, "\n  ([a-z]+) ");
}

TEST_F(Completion, NamesAllCommandsAndOptions) {
  ASSERT_THAT(commands(),
              IsSupersetOf({"run", "try", "report", "doctor", "hints", "dropin", "plan", "completion"}));
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = forebay_command({"completion", shell});
    EXPECT_EQ(outcome.status, 0);
    for (const std::string& command : commands()) {
      EXPECT_THAT(outcome.output, HasSubstr(command)) << shell;
      for (const std::string& option :
           matches(forebay_command({command, "--help"}).output, "\n +(?:-h, *)?(--[a-z-]+)")) {
        const std::string name =
            std::string(shell) == "fish" ? "from " + command + "' -l " + option.substr(2) : option;
        EXPECT_THAT(outcome.output, HasSubstr(name)) << shell << " " << command;
      }
    }
  }
  EXPECT_EQ(forebay_command({"completion", "csh"}).status, 2);
  EXPECT_EQ(forebay_command({"completion"}).status, 2);
}

TEST_F(Completion, TheShellsUnderstandIt) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    std::ofstream(*this / "script", std::ios::trunc) << forebay_command({"completion", shell}).output;
    const Outcome outcome = run_program(
        {"sh", "-c",
         "command -v " + std::string(shell) + " || exit 0; " + shell + " -n '" + *this / "script'"},
        current_environment(), std::chrono::seconds(20));
    EXPECT_EQ(outcome.status, 0) << shell << ": " << outcome.errors;
  }
}

TEST_F(Completion, NoBlankFollowsAHintsEqualsSign) {
  EXPECT_THAT(forebay_command({"completion", "zsh"}).output,
              HasSubstr(":HINTS:compadd -S \"\" - forebay_enable= "));
  EXPECT_THAT(forebay_command({"completion", "bash"}).output, HasSubstr("compopt -o nospace"));
}

/// What bash offers for the words; the last one is being typed.
std::set<std::string> offered(const std::string& folder, const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += " '" + word + "'";
  std::ofstream(folder + "/ask")
      << "cd '" << folder << "'\n. ./script\nCOMP_WORDS=(" << typed
      << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_forebay\nprintf '<%s>\\n' \"${COMPREPLY[@]}\"\n";
  return matches(
      run_program({"bash", "--norc", folder + "/ask"}, current_environment(), std::chrono::seconds(20))
          .output,
      "<(.+)>\n");
}

TEST_F(Completion, BashOffersWhatFits) {
  std::ofstream(*this / "script") << forebay_command({"completion", "bash"}).output;
  std::ofstream(*this / "report one.json") << "{}";
  std::filesystem::create_directory(*this / "reports");
  const auto offer = [&](std::vector<std::string> words) { return offered(folder_, words); };
  EXPECT_EQ(offer({"forebay", "rep"}), (std::set<std::string>{"report"}));
  EXPECT_EQ(offer({"forebay", "run", "--mode", ""}),
            (std::set<std::string>{"automatic", "commit", "strict"}));
  EXPECT_EQ(offer({"forebay", "run", "--st"}), (std::set<std::string>{"--stats"}));
  EXPECT_EQ(offer({"forebay", "run", "--hints", "forebay_mod"}), (std::set<std::string>{"forebay_mode="}));
  EXPECT_EQ(offer({"forebay", "report", "rep"}), (std::set<std::string>{"report one.json", "reports"}));
  EXPECT_EQ(offer({"forebay", "doctor", "--dir", "rep"}), (std::set<std::string>{"reports"}));
  for (const char* command : {"doctor", "recover", "wait"})
    EXPECT_EQ(offer({"forebay", command, "rep"}), (std::set<std::string>{"report one.json", "reports"}))
        << command;
  EXPECT_EQ(offer({"forebay", "completion", ""}), (std::set<std::string>{"bash", "fish", "zsh"}));
  EXPECT_THAT(offer({"forebay", "run", "--stats", "x", "bas"}), Contains("bash")) << "a program";
  EXPECT_EQ(offer({"forebay", "run", "./model", "--st"}), (std::set<std::string>{}))
      << "its options are its own";
  EXPECT_EQ(offer({"forebay", "try", "--ranks", "4", "--rep"}), (std::set<std::string>{"--repeat"}));
}

}  // namespace
}  // namespace forebay::tools
