// forebay try with programs that are a shell's: verdicts, what is compared, folders, failures, Ctrl-C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Try : public InFolder {
 protected:
  Try() { fs::create_directory(*this / "here"); }
  /// In the folder `here`, by a shell, as a user does.
  Outcome in_shell(const std::string& command) {
    return run_program({"sh", "-c", "cd '" + *this / "here" + "' && " + command}, current_environment(),
                       std::chrono::seconds(60));
  }
  Outcome attempt(const std::string& arguments) { return in_shell(FOREBAY " try " + arguments); }
  void script(const std::string& name, const std::string& text) {
    std::ofstream(*this / "here/" + name) << "#!/bin/sh\n" << text;
    fs::permissions(*this / "here/" + name, fs::perms::owner_all);
  }
  std::vector<std::string> left() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(*this / "here")) {
      if (entry.path().filename().string().starts_with("forebay-try-")) names.push_back(entry.path());
    }
    return names;
  }
};

// A program of either kind knows by what forebay run preloads.
const std::string kind = "case $LD_PRELOAD in *forebay*) kind=forebay ;; *) kind=stock ;; esac\n";

// As if Forebay had served a file.
const std::string served =
    "[ $kind = stock ] || echo '{\"schema\": 2, \"files\": [{}]}' >\"$FOREBAY_STATS\"\n";

TEST_F(Try, WithoutAServedFileNothingIsFaster) {
  script("model", kind + "[ $kind = forebay ] || sleep 0.4\n");
  const Outcome outcome = attempt("--repeat 1 ./model");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("\nno files to compare"), HasSubstr("no gain: Forebay served no file")));
}

TEST_F(Try, IdenticalFilesAndFaster) {
  script("model", kind + served +
                      "[ $kind = forebay ] || sleep 0.4\nmkdir out; echo 1 >out/a; echo 2 >'b \"c\".nc'\n");
  const Outcome outcome = attempt("--repeat 2 ./model");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, ContainsRegex("\nidentical, [0-9.]+ times faster\n"));
  EXPECT_THAT(outcome.output, HasSubstr("identical     out/a\n"));
  EXPECT_THAT(outcome.errors, HasSubstr("run 4 of 4"));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(Try, NoGainSaysWhy) {
  script("model", "echo 1 >a\n");
  const Outcome outcome = attempt("--repeat 1 --html t.html -- ./model");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("\nidentical, no gain: Forebay served no file"));
  const std::string html = slurp(*this / "here/t.html");
  EXPECT_THAT(html, HasSubstr("identical, no gain"));
  EXPECT_THAT(html, HasSubstr("Time of each run"));
}

TEST_F(Try, DifferentFilesAreToldAndKept) {
  script("model", kind + "echo $kind >a; echo x >b; [ $kind = forebay ] && echo z >d || echo y >c\n");
  const Outcome outcome = attempt("--repeat 2 ./model");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("\nDIFFERENT: a: its bytes differ\n"));
  EXPECT_THAT(outcome.output, HasSubstr("DIFFERENT     c (the run under Forebay did not write it)\n"));
  EXPECT_THAT(outcome.output, HasSubstr("DIFFERENT     d (the stock run did not write it)\n"));
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(slurp(left()[0] + "/stock-1/a"), "stock\n");
  EXPECT_EQ(slurp(left()[0] + "/forebay-2/a"), "forebay\n");
  EXPECT_THAT(outcome.output, HasSubstr(left()[0].substr(left()[0].rfind('/'))));
}

TEST_F(Try, WhatStockWritesTwiceInTwoWaysTellsNothing) {
  script("model", "date +%N >log; echo 1 >a\n");
  const Outcome outcome = attempt("--repeat 3 ./model");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("not judged    log (it differs between stock runs, too)\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nidentical, no gain"));
}

TEST_F(Try, InputsAreLinkedAndOutputsElsewhereAreTaken) {
  fs::create_directories(*this / "here/data/deep");
  std::ofstream(*this / "here/data/deep/in.txt") << "read me\n";
  std::ofstream(*this / "other.nml") << "name\n";
  script("model", "cat data/deep/in.txt other.nml >a; echo $PWD >'" + *this / "out.1'; echo same >'" +
                      *this / "out.2'\n");
  Outcome outcome = attempt(
      "--repeat 2 --keep --input data/deep/in.txt --input ../other.nml --output '../out.*' ./model x");
  EXPECT_EQ(outcome.status, 0) << outcome.errors << outcome.output;
  EXPECT_THAT(outcome.output, ContainsRegex("identical     /.*out.2\n"));
  EXPECT_THAT(outcome.output, ContainsRegex("not judged    /.*out.1 "));
  EXPECT_THAT(outcome.output, Not(HasSubstr("in.txt"))) << "an input is no output";
  EXPECT_FALSE(fs::exists(*this / "out.1"));
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(slurp(left()[0] + "/stock-2/a"), "read me\nname\n");
  std::ofstream(*this / "out.3") << "mine";
  outcome = attempt("--output '../out.*' ./model");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("is there already"));
  EXPECT_EQ(slurp(*this / "out.3"), "mine");
  EXPECT_EQ(attempt("--input nothing ./model").status, 2);
}

TEST_F(Try, ItsOwnFolderIsNoOutput) {
  script("../model", "echo 1 >'" + *this / "here/a'; echo 2 >b\n");
  const Outcome outcome = attempt("--repeat 2 --keep --output '*' ../model");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, ContainsRegex("identical     /.*here/a\n"));
  EXPECT_FALSE(fs::exists(*this / "here/a"));
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(slurp(left()[0] + "/stock-2/b"), "2\n");
}

TEST_F(Try, InputsHavePlacesOfTheirOwn) {
  fs::create_directories(*this / "here/data/deep");
  fs::create_directories(*this / "here/more/deep");
  script("model", "echo 1 >a\n");
  for (const char* inputs :
       {"--input .", "--input ./", "--input ..", "--input ../", "--input /", "--input ../../..",
        "--input data --input data/deep", "--input data/deep --input data",
        "--input $PWD/data/deep --input $PWD/more/deep", "--input data --input ./data/"}) {
    const Outcome outcome = attempt(std::string("--repeat 1 ") + inputs + " ./model");
    EXPECT_EQ(outcome.status, 2) << inputs << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, StartsWith("forebay: --input: ")) << inputs;
  }
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_EQ(attempt("--repeat 1 --input data/deep --input more/deep ./model").status, 0);
}

TEST_F(Try, APageThatCannotBeWrittenIsToldAtOnce) {
  script("model", "echo ran >>'" + *this / "ran'\n");
  fs::create_directory(*this / "here/folder");
  for (const char* page : {"folder", "no/such.html", "/dev/null"})
    EXPECT_EQ(attempt(std::string("--repeat 1 --html ") + page + " ./model").status, 2) << page;
  EXPECT_FALSE(fs::exists(*this / "ran"));
}

TEST_F(Try, WhatToolsDoNotCompareIsNotJudged) {
  // As h5diff does with datasets of different shapes.
  fs::create_directory(*this / "bin");
  script("../bin/h5diff", "echo Some objects are not comparable\n");
  script("model", kind + "printf '\\211HDF\\r\\n\\032\\n%s' $kind >a.h5\n");
  const Outcome outcome = in_shell("PATH='" + *this / "bin'" + ":$PATH " FOREBAY " try --repeat 1 ./model");
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("not judged    a.h5 (h5diff cannot compare all of it)"));
}

TEST_F(Try, AFolderThatCannotBeReadIsTold) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads all folders";
  script("model", kind + "mkdir a b; echo $kind >b/x; chmod 0 a\n");
  const Outcome outcome = attempt("--repeat 1 ./model");
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("cannot be read"));
  ASSERT_EQ(in_shell("chmod -R u+rwx forebay-try-*").status, 0);
}

TEST_F(Try, FoldersThatTheProgramProtectsLeaveNothing) {
  if (geteuid() == 0) GTEST_SKIP() << "root removes all folders";
  script("model", "mkdir a a/b; echo 1 >a/b/x; chmod 500 a/b a\n");
  EXPECT_EQ(attempt("--repeat 1 ./model").status, 0);
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(Try, AFailingProgramIsToldAndLeavesNothing) {
  std::ofstream(*this / "here/in.txt") << "x";
  script("model", "cat \"$1\" || exit 3\n");
  Outcome outcome = attempt("./model in.txt");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("the stock run ended with status 3"));
  EXPECT_THAT(outcome.errors, HasSubstr("No such file"));
  EXPECT_THAT(outcome.errors, HasSubstr("if it reads that: --input in.txt"));
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_EQ(attempt("--input in.txt ./model in.txt").status, 0);
  std::ofstream(*this / "here/in 2.txt") << "x";
  EXPECT_THAT(attempt("./model 'in 2.txt'").errors, HasSubstr("--input 'in 2.txt'\n"));
  script("sad", "cat \"$1\"; exit 4\n");
  EXPECT_THAT(attempt("--input ./in.txt ./sad in.txt").errors, Not(HasSubstr("if it reads that")));
  outcome = attempt("--keep ./model in.txt");
  EXPECT_EQ(left().size(), 1U);
  EXPECT_EQ(attempt("./no-such-program").status, 2);
  EXPECT_EQ(attempt("").status, 2);
  EXPECT_EQ(attempt("--wrong ./model").status, 2);
  EXPECT_EQ(attempt("--mode fast ./model").status, 2);
  EXPECT_EQ(attempt("--hints forebay_nothing=1 ./model").status, 2);
  EXPECT_EQ(attempt("--dir no/such ./model").status, 2);
}

TEST_F(Try, AnInterruptLeavesNothing) {
  script("model", "echo begun >'" + *this / "begun'; sleep 50 & echo $! >'" + *this / "sleeper'; wait\n");
  const pid_t child = fork();
  if (child == 0) {
    if (chdir((*this / "here").c_str()) != 0) _exit(1);
    execl(FOREBAY, FOREBAY, "try", "--output", (*this / "begun").c_str(), "./model", nullptr);
    _exit(127);
  }
  while (!fs::exists(*this / "sleeper")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(left().size(), 1U);
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_FALSE(fs::exists(*this / "begun"));
  const pid_t sleeper = std::stoi(slurp(*this / "sleeper"));
  for (int i = 0; i < 100 && kill(sleeper, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(kill(sleeper, 0), 0) << "the program's own children end, too";
}

TEST_F(Try, AKilledCommandTakesItsProgramAlong) {
  script("model",
         "echo $$ >'" + *this / "pid'; mv '" + *this / "pid' '" + *this / "program'; read x <fifo\n");
  ASSERT_EQ(mkfifo((*this / "here/fifo").c_str(), 0600), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (chdir((*this / "here").c_str()) != 0) _exit(1);
    execl(FOREBAY, FOREBAY, "try", "--input", "fifo", "./model", nullptr);
    _exit(127);
  }
  while (!fs::exists(*this / "program")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const pid_t program = std::stoi(slurp(*this / "program"));
  for (int i = 0; i < 100 && kill(program, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(kill(program, 0), 0);
  kill(program, SIGKILL);
}

TEST_F(Try, TextOfFilesIsTextOnThePage) {
  script("model", kind + "echo $kind >'<img src=x>'\n");
  EXPECT_EQ(attempt("--repeat 1 --html t.html ./model").status, 1);
  const std::string html = slurp(*this / "here/t.html");
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, HasSubstr("DIFFERENT: &lt;img src=x&gt;"));
}

}  // namespace
}  // namespace forebay::tools
