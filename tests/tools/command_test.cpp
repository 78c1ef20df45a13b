// forebay run, report and hints as a user meets them: what programs get, what mistakes are told, and exit
// statuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "announce.hpp"
#include "command.hpp"
#include "forebay/version.h"
#include "human.hpp"
#include "program_check.hpp"
#include "report/report.hpp"
#include "subprocess.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using RunCommand = InFolder;
using ReportCommand = InFolder;

TEST_F(RunCommand, TheProgramGetsItsArgumentsAndGivesItsStatus) {
  const Outcome outcome =
      forebay_command({"run", SHELL_SCRIPT, "--stats", "x", "--help", "", "a b", "--", "-v"});
  EXPECT_EQ(outcome.output, "[--stats]\n[x]\n[--help]\n[]\n[a b]\n[--]\n[-v]\n");
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.status, 9);
}

TEST_F(RunCommand, ASeparatorBeforeTheProgramIsTaken) {
  EXPECT_EQ(forebay_command({"run", "--mode", "strict", "--", SHELL_SCRIPT, "x"}).output, "[x]\n");
  EXPECT_EQ(forebay_command({"run", "--", SHELL_SCRIPT, "--mode"}).output, "[--mode]\n");
}

TEST_F(RunCommand, EmptyOptionsAreNotGiven) {
  // As from --hints=$HINTS in a job script: the next word is the program, not the option's value.
  EXPECT_EQ(forebay_command({"run", "--hints=", "--stats=", "--", SHELL_SCRIPT, "--mode="}).output,
            "[--mode=]\n");
  EXPECT_EQ(forebay_command({"run", "--mode=", SHELL_SCRIPT, "x"}).output, "[x]\n");
  EXPECT_EQ(forebay_command({"run", "--hints="}).status, 2);
}

TEST_F(RunCommand, SetsTheEnvironment) {
  const Outcome outcome = forebay_with(
      {{"LD_PRELOAD", "libm.so.6"}, {"FOREBAY_HINTS", "forebay_link=put"}},
      {"run", "--stats", *this / "s.json", "--hints", "forebay_mode=commit", "--mode", "strict", "env"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr(SHIM ":libm.so.6\n"));
  EXPECT_THAT(outcome.output,
              HasSubstr("FOREBAY_HINTS=forebay_link=put;forebay_mode=commit;forebay_mode=strict\n"));
  EXPECT_THAT(outcome.output, HasSubstr("FOREBAY_STATS=" + *this / "s.json" + "\n"));
  EXPECT_THAT(outcome.output, HasSubstr("FOREBAY_LIBDIR=/"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("HDF5_PLUGIN_PATH=")));
}

TEST_F(RunCommand, WithinItselfPreloadsOnce) {
  const std::string list = forebay_command({"run", FOREBAY, "run", "sh", "-c", "echo $LD_PRELOAD"}).output;
  EXPECT_NE(list.find(SHIM), list.npos);
  EXPECT_EQ(list.find(SHIM), list.rfind(SHIM));
}

TEST_F(RunCommand, AChosenLibraryFolderStays) {
  const Outcome outcome =
      forebay_with({{"FOREBAY_LIBDIR", "/elsewhere"}}, {"run", "sh", "-c", "echo $FOREBAY_LIBDIR"});
  EXPECT_EQ(outcome.output, "/elsewhere\n");
}

TEST_F(RunCommand, LoadsNothingIntoAProgramThatUsesNeitherLibrary) {
  const Outcome outcome = forebay_command({"run", "cat", "/proc/self/maps"});
  EXPECT_THAT(outcome.output, HasSubstr("libforebay_preload.so"));
  for (const char* other :
       {"libforebay_hdf5", "libforebay_pnetcdf", "libmpi", "libhdf5", "libpnetcdf", "libstdc++"}) {
    EXPECT_THAT(outcome.output, Not(HasSubstr(other)));
  }
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(RunCommand, AWrongHintStopsItAndNamesTheNearOnes) {
  Outcome outcome = forebay_command({"run", "--hints", "forebay_stripe_byte=1m", "touch", *this / "ran"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors,
            "forebay: --hints: unknown hint \"forebay_stripe_byte\"; did you mean forebay_stripe_bytes or "
            "forebay_stripe?\n");
  outcome = forebay_command({"run", "--hints", "forebay_stripe_bytes=lots", "touch", *this / "ran"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("\"lots\" does not fit"));
  outcome = forebay_command({"run", "--mode", "fast", "touch", *this / "ran"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("strict | commit"));
  outcome = forebay_with({{"FOREBAY_HINTS", "nonsense"}}, {"run", "touch", *this / "ran"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, StartsWith("forebay: FOREBAY_HINTS: "));
  EXPECT_FALSE(fs::exists(*this / "ran"));
}

TEST_F(RunCommand, RulesForFilesAreCheckedAndDecideNothingOfTheJob) {
  const std::string rules = *this / "rules.toml";
  EXPECT_EQ(forebay_with({{"FOREBAY_CONFIG", rules}}, {"run", "touch", *this / "ran"}).status, 2);
  EXPECT_FALSE(fs::exists(*this / "ran"));
#ifdef HAS_CONFIG
  std::ofstream(rules) << "[[file]]\nmatch = '*'\nmode = 'strict'\n";
  // One file may be strict, and the next one is kept.
  const Outcome outcome = forebay_with({{"FOREBAY_CONFIG", rules}}, {"run", "env"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("FOREBAY_KEEPER="));
#endif
}

// Any rank may be the only one that cannot become its program.
TEST_F(RunCommand, WhicheverRankFailsTells) {
  std::ofstream(*this / "data") << "no program";
  std::ofstream(*this / "script") << "#!/no/such/shell\n";
  chmod((*this / "script").c_str(), 0700);
  const std::vector<std::pair<std::vector<std::string>, int>> failing{
      {{"run", "--hints", "forebay_mod=x", "true"}, 2},
      {{"run", "--mode", "comit", "true"}, 2},
      {{"run", "--stat", "x", "true"}, 2},
      {{"run"}, 2},
      {{"run", "./no_such_program"}, 127},
      {{"run", *this / "data"}, 126},
      {{"run", *this / "script"}, 127},
  };
  for (const auto& [arguments, status] : failing) {
    for (const char* rank : {"0", "5"}) {
      const Outcome outcome = forebay_with({{"PMIX_RANK", rank}, {"PMIX_NAMESPACE", folder_}}, arguments);
      EXPECT_EQ(outcome.status, status);
      EXPECT_THAT(outcome.errors, testing::MatchesRegex("forebay: [^\n]*\n")) << arguments.back();
    }
  }
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    EXPECT_NE(forebay_with({{variable, "5"}}, {"run", "--hints", "x", "true"}).errors, "") << variable;
}

TEST(Announce, OneOfThoseThatHaveTheSameToSaySpeaks) {
  const std::string topic = "a test of " + std::to_string(getpid());
  {
    Spokesman first(topic);
    EXPECT_TRUE(first.has_the_word());
    EXPECT_TRUE(Spokesman(topic + " and another one").has_the_word());
    first.spoken();
    EXPECT_FALSE(Spokesman(topic).has_the_word());
    EXPECT_FALSE(Spokesman(topic).has_the_word());
  }
  EXPECT_TRUE(Spokesman(topic).has_the_word()) << "it is gone, and may have been ended before it spoke";
}

TEST(Announce, WhoIsNotHeardIsNotWaitedForLong) {
  const std::string topic = "a silent one of " + std::to_string(getpid());
  const Spokesman silent(topic);
  EXPECT_TRUE(Spokesman(topic).has_the_word());
}

TEST_F(RunCommand, NamesInMessagesAreOneLineOfText) {
  const std::string name = "./mo\ndel\x1b[31m\xff\xc3\xbc\x7f";
  EXPECT_EQ(forebay_command({"run", name}).errors,
            "forebay: cannot find the program ./mo\\ndel\\x1b[31m\\xff\xc3\xbc\\x7f\n");
}

TEST_F(RunCommand, AMissingProgramIsTold) {
  Outcome outcome = forebay_command({"run", "no-such-program", "--help"});
  EXPECT_EQ(outcome.status, 127);
  EXPECT_EQ(outcome.errors, "forebay: cannot find the program no-such-program\n");
  outcome = forebay_command({"run", *this / "model"});
  EXPECT_EQ(outcome.status, 127);
  EXPECT_THAT(forebay_command({"run", "/"}).errors, HasSubstr("it is a folder"));
  std::ofstream(*this / "model") << "#!/bin/sh\n";
  outcome = forebay_command({"run", *this / "model"});
  EXPECT_EQ(outcome.status, 126);
  EXPECT_THAT(outcome.errors, HasSubstr("may not execute"));
  std::ofstream(*this / "model") << "#!/no/such/shell\n";
  chmod((*this / "model").c_str(), 0700);
  outcome = forebay_command({"run", *this / "model"});
  EXPECT_EQ(outcome.status, 127);
  EXPECT_THAT(outcome.errors, HasSubstr("cannot execute"));
}

TEST_F(RunCommand, WrongOptionsAreTold) {
  EXPECT_EQ(forebay_command({"run"}).status, 2);
  const Outcome outcome = forebay_command({"run", "--stat", "x", "true"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors, "forebay: run has no option --stat; see forebay run --help\n");
  EXPECT_THAT(forebay_command({"report", "--csv", "a.json", "b.json"}).errors,
              HasSubstr("b.json; see forebay report --help\n"));
  EXPECT_EQ(forebay_command({}).status, 2);
  EXPECT_EQ(forebay_command({"walk"}).status, 2);
}

TEST_F(RunCommand, APlaceForTheReportThatCannotBeWrittenStopsIt) {
  for (const std::string& place :
       {*this / "no/stats.json", std::string("/proc/stats.json"), folder_, std::string("/dev/null")}) {
    const Outcome outcome = forebay_command({"run", "--stats", place, "touch", *this / "ran"});
    EXPECT_EQ(outcome.status, 2) << place;
    EXPECT_THAT(outcome.errors, testing::AllOf(StartsWith("forebay: --stats: "), HasSubstr(place)));
  }
  std::ofstream(*this / "results.nc") << "CDF";
  EXPECT_EQ(forebay_command({"run", "--stats", *this / "results.nc", "touch", *this / "ran"}).status, 2);
  EXPECT_EQ(slurp(*this / "results.nc"), "CDF") << "another file was overwritten";
  EXPECT_FALSE(fs::exists(*this / "ran"));
}

TEST_F(RunCommand, ATimelineIsBegunAndNothingElseOverwritten) {
  std::ofstream(*this / "mine") << "mine";
  Outcome outcome = forebay_command({"run", "--trace", *this / "mine", "touch", *this / "ran"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("--trace: " + *this / "mine" + " holds something else"));
  EXPECT_FALSE(fs::exists(*this / "ran"));
  EXPECT_EQ(slurp(*this / "mine"), "mine");
  outcome = forebay_command({"run", "--trace", *this / "t.json", "sh", "-c", "echo $FOREBAY_TRACE"});
  EXPECT_EQ(outcome.output, *this / "t.json" + "\n");
  EXPECT_TRUE(nlohmann::json::parse(slurp(*this / "t.json"))["traceEvents"].empty());
}

TEST_F(RunCommand, AnUnwritableFolderStopsIt) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  chmod(folder_.c_str(), 0500);
  EXPECT_EQ(forebay_command({"run", "--stats", *this / "stats.json", "true"}).status, 2);
}

TEST_F(RunCommand, StartsTheReportAnew) {
  FileFacts facts;
  facts.path = "/old";
  const std::vector<RankShare> shares(1);
  ASSERT_TRUE(append_report(*this / "s.json", summarize(facts, shares)).ok());
  // Another rank must not remove what the first may have written meanwhile.
  EXPECT_EQ(
      forebay_with({{"OMPI_COMM_WORLD_RANK", "1"}}, {"run", "--stats", *this / "s.json", "true"}).status, 0);
  EXPECT_THAT(slurp(*this / "s.json"), HasSubstr("/old"));
  EXPECT_EQ(forebay_command({"run", "--stats", *this / "s.json", "true"}).status, 0);
  EXPECT_THAT(slurp(*this / "s.json"), Not(HasSubstr("/old")));
  const Outcome text = forebay_command({"report", *this / "s.json"});
  EXPECT_EQ(text.output,
            "No file was written through Forebay, or the program ended before it closed one. `forebay run "
            "--verbose PROGRAM` tells which driver each library "
            "runs on, `forebay doctor` whether Forebay works here.\n");
  EXPECT_EQ(text.status, 0);
}

TEST_F(RunCommand, FoldersWithoutADropinAreTold) {
  const Outcome none = forebay_with({{"FOREBAY_DROPIN", *this / "none"}}, {"run", "true"});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.errors, "forebay: FOREBAY_DROPIN: there is no folder " + *this / "none" + "\n");
  fs::create_directories(*this / "empty/below");
  EXPECT_EQ(forebay_with({{"FOREBAY_DROPIN", *this / "empty"}}, {"run", SHELL_SCRIPT, "x"}).errors,
            "forebay: FOREBAY_DROPIN: there is no PnetCDF library in " + *this / "empty" + "\n");
  // For a program that does not tell which PnetCDF it loads, any will do.
  std::ofstream(*this / "empty/below/libpnetcdf.so.6") << "a library";
  EXPECT_EQ(forebay_with({{"FOREBAY_DROPIN", *this / "empty"}}, {"run", SHELL_SCRIPT, "x"}).errors, "");
  EXPECT_EQ(forebay_with({{"FOREBAY_DROPIN", ""}}, {"run", "true"}).errors, "");
  const Variables second{{"FOREBAY_DROPIN", *this / "none"}, {"PMI_RANK", "1"}};
  EXPECT_EQ(forebay_with(second, {"run", "true"}).errors, "");
}

// An empty entry of a search path, or a relative one, is whatever folder the program happens to be in.
TEST_F(RunCommand, WholePathsAloneLeadAProgramToDropins) {
  fs::create_directory(*this / "site");
  std::ofstream(*this / "site/libpnetcdf.so.6") << "a library";
  const auto path = [&](const std::string& dropin, const std::string& libraries) {
    const Outcome outcome =
        forebay_with({{"FOREBAY_DROPIN", dropin}, {"LD_LIBRARY_PATH", libraries}}, {"run", PRINTS_PATH});
    EXPECT_EQ(outcome.status, 0);
    return outcome.output;
  };
  const std::string site = *this / "site";
  EXPECT_EQ(path(site, ""), site + "\n");
  EXPECT_EQ(path(site + ":", ""), site + "\n");
  EXPECT_EQ(path(":" + site + "::", "/a"), site + ":/a\n");
  EXPECT_EQ(path(site, "/a:"), site + ":/a:\n") << "what the user's own has is the user's";
  const Outcome relative = forebay_with({{"FOREBAY_DROPIN", "lib"}}, {"run", "true"});
  EXPECT_EQ(relative.status, 0);
  EXPECT_EQ(relative.errors,
            "forebay: FOREBAY_DROPIN: lib is left out: lib is not a whole path (it has to begin with a /)\n");
}

TEST_F(RunCommand, WhatOthersMayChangeIsNotLoaded) {
  fs::create_directory(*this / "site");
  std::ofstream(*this / "site/libpnetcdf.so.6") << "a library";
  chmod((*this / "site").c_str(), 0777);
  const Outcome outcome =
      forebay_with({{"FOREBAY_DROPIN", *this / "site"}, {"LD_LIBRARY_PATH", "/a"}}, {"run", PRINTS_PATH});
  EXPECT_EQ(outcome.output, "/a\n");
  EXPECT_EQ(outcome.errors, "forebay: FOREBAY_DROPIN: " + *this / "site" +
                                " is left out: others may change " + *this / "site" + "\n");
}

/// The command as it is installed, as a hard link: there is no telling it from that of the build by its file.
class Installed : public testing::Test {
 protected:
  Installed() {
    fs::remove_all(prefix_);
    fs::create_directories(prefix_ + "/bin");
    fs::create_directories(prefix_ + "/" LIBRARY_FOLDER "/forebay");
    fs::create_hard_link(FOREBAY, prefix_ + "/bin/forebay");
    fs::copy(SHIM, shim_);
  }
  ~Installed() override { fs::remove_all(prefix_); }
  Outcome run() const {
    auto environment = current_environment();
    for (const char* name : {"LD_PRELOAD", "FOREBAY_LIBDIR"}) environment.erase(name);
    return run_program({prefix_ + "/bin/forebay", "run", "env"}, environment, std::chrono::seconds(60));
  }
  const std::string prefix_ = WORK "/prefix-" + std::to_string(getpid());
  const std::string shim_ = prefix_ + "/" LIBRARY_FOLDER "/forebay/libforebay_preload.so";
};

TEST_F(Installed, ItNeverLooksAtTheBuildFolder) {
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("LD_PRELOAD=" + shim_ + "\n"));
  EXPECT_THAT(outcome.output, HasSubstr("FOREBAY_LIBDIR=" + prefix_));
  EXPECT_THAT(outcome.output, Not(HasSubstr(SHIM)));
}

TEST_F(Installed, FoldersThatAllMayWriteToAreRefused) {
  const std::string folder = fs::path(shim_).parent_path().string();
  chmod(folder.c_str(), 0777);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, testing::AllOf(StartsWith("forebay: others may change " + folder),
                                             HasSubstr("would be loaded")));
  EXPECT_EQ(outcome.output, "");
}

TEST_F(RunCommand, MisspeltVariablesAreTold) {
  EXPECT_EQ(forebay_with({{"FOREBAY_DROPINS", "/x"}}, {"run", "true"}).errors,
            "forebay: FOREBAY_DROPINS is set and has no meaning; is FOREBAY_DROPIN meant?\n");
  EXPECT_THAT(forebay_with({{"FOREBAY_HINT", "x=1"}}, {"run", "true"}).errors,
              HasSubstr("is FOREBAY_HINTS meant?"));
  const std::map<std::string, std::string> tried{
      {"FOREBAY_MODE", "FOREBAY_HINTS=forebay_mode=commit"},
      {"forebay_mode", "FOREBAY_HINTS=forebay_mode=commit"},
      {"FOREBAY_POOL_BYTE", "FOREBAY_HINTS=forebay_pool_bytes=commit"},
      {"FOREBAY_DISABLE", "FOREBAY_ENABLE=off"},
      {"FOREBAY_DEBUG", "FOREBAY_VERBOSE=1"}};
  for (const auto& [name, meant] : tried) {
    EXPECT_EQ(forebay_with({{name, "commit"}}, {"run", "true"}).errors,
              "forebay: " + name + " is set and has no meaning; is " + meant + " meant?\n");
  }
  // What sites call their own.
  EXPECT_EQ(
      forebay_with({{"FOREBAY_ROOT", "/x"}, {"FOREBAY_LIB", "/x"}, {"FOREBAY_VERSION", "1"}}, {"run", "true"})
          .errors,
      "");
}

TEST_F(RunCommand, SaysWhatCannotBeReached) {
  const Outcome outcome = forebay_command({"run", STATIC_NOTHING});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, std::string("forebay: ") + STATIC_NOTHING +
                                " is linked statically: nothing can be preloaded into it\n");
}

#ifdef STATIC_PNETCDF
TEST_F(RunCommand, AProgramWithPnetcdfInsideRunsOnStockAndIsTold) {
  for (const std::string program : {STATIC_PNETCDF, STATIC_PNETCDF_STRIPPED}) {
    const Outcome outcome =
        forebay_command({"run", "--stats", *this / "s.json", program, "write", *this / "f.nc"});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors,
              "forebay: PnetCDF runs on its stock driver: it is linked statically into " + program +
                  "; link it with `pkg-config --libs forebay-pnetcdf-static`, or link the shared "
                  "library (libpnetcdf.so)\n");
    EXPECT_EQ(run_program({program, "check", *this / "f.nc"}, current_environment(), std::chrono::seconds(60))
                  .status,
              0);
    EXPECT_THAT(nlohmann::json::parse(slurp(*this / "s.json"))["files"], IsEmpty());
  }
}
#endif

TEST(ProgramCheck, OrdinaryProgramsAndScriptsCanBeReached) {
  for (const char* path : {"/bin/sh", SHELL_SCRIPT, "/etc/passwd", "/no/such/file", FOREBAY}) {
    EXPECT_THAT(unreachable_parts(path), IsEmpty()) << path;
  }
}

TEST(ProgramCheck, ABrokenFileIsNoReasonToFall) {
  const std::string whole = slurp(SHIM);
  std::string name = fs::temp_directory_path() / "forebay-elf-XXXXXX";
  const int fd = mkstemp(name.data());
  ASSERT_GE(fd, 0);
  close(fd);
  for (const std::size_t length : {std::size_t{0}, std::size_t{4}, std::size_t{63}, std::size_t{64},
                                   std::size_t{200}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(name, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    (void)unreachable_parts(name);
  }
  // Every offset and count of the header turned into nonsense.
  for (std::size_t at = 16; at < 64; ++at) {
    std::string bent = whole;
    bent[at] = static_cast<char>(~bent[at]);
    std::ofstream(name, std::ios::binary | std::ios::trunc) << bent;
    (void)unreachable_parts(name);
  }
  fs::remove(name);
}

TEST_F(ReportCommand, PrintsWhatMatters) {
  FileFacts facts;
  facts.path = "/scratch/history.nc";
  facts.driver = "pnetcdf";
  facts.storage = "mpiio";
  facts.stripe_bytes = 1 << 20;
  facts.window_bytes = 4 << 20;
  facts.settings.link = Link::put;
  facts.link_rate = 512 << 20;
  facts.node = {2, 1, 1, "network cards"};
  std::vector<RankShare> shares(6);
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    shares[rank].node = rank < 4 ? 0 : 1;
    Counters& c = shares[rank].counters;
    c.requests = 3;
    c.pieces = 250000;
    c.bytes = 3000000;
    c.collective_flushes = 1;
    if (rank % 4 == 0) {
      c.aggregator = 1;
      c.messages = 5;
      c.message_bytes = 5000;
      c.puts = 4;
      c.count_write(0, 1 << 20, 1 << 20);
      c.count_write(7, 5, 1 << 20);
    }
  }
  ASSERT_TRUE(append_report(*this / "s.json", summarize(facts, shares)).ok());
  const Outcome outcome = forebay_command({"report", *this / "s.json"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* part :
       {"/scratch/history.nc", "6 on 2 nodes, 2 to 4 a node", "forebay_link=put",
        "stripes of 1 MiB, rounds of 4 MiB", "18 requests of 17.2 MiB: 1 500 000 pieces, on average 12 bytes",
        "1 collective write,",
        "10 messages of 9.8 KiB, 0 bytes of headers; 8 of them one-sided puts; measured at 512 MiB a second",
        "4 writes of 2.0 MiB", "2 aligned, 2 not", "2 of 4 bytes to 8 bytes", "2 of 1 MiB to 2 MiB",
        "aggregators     0, 4; 1 a node, one for each network card"}) {
    EXPECT_THAT(outcome.output, HasSubstr(part));
  }
  FileReport second = left_to_stock("/scratch/\x1b[31mred.nc", "pnetcdf", "a \"reason\"\n", 6, 1 << 20, 0);
  ASSERT_TRUE(append_report(*this / "s.json", second).ok());
  const Outcome both = forebay_command({"report", *this / "s.json"});
  EXPECT_EQ(both.status, 0);
  for (const char* part : {"in all          2 files, opened 2 times, 1 of them on the stock driver",
                           "/scratch/\\x1b[31mred.nc\n", "on stock driver 1 of 1 open", "1 MiB put (0 calls)",
                           "own driver: a \"reason\"\\n. Its writes"}) {
    EXPECT_THAT(both.output, HasSubstr(part));
  }
  EXPECT_THAT(both.output, Not(HasSubstr("\x1b")));
  const Outcome as_json = forebay_command({"report", "--json", *this / "s.json"});
  EXPECT_EQ(nlohmann::json::parse(as_json.output), nlohmann::json::parse(slurp(*this / "s.json")));
}

TEST_F(ReportCommand, WhatIsNoReportIsTold) {
  EXPECT_THAT(forebay_command({"report", "/"}).errors, HasSubstr("it is a folder"));
  const std::map<std::string, std::string> cases{
      {"", "not JSON"},
      {"CDF\1", "not JSON"},
      {"{}", "not a report"},
      {"[1]", "not a report"},
      {"{\"schema\": 1, \"files\": []}", "another layout"},
      {"{\"schema\": 2, \"files\": [{\"path\": \"x\"}]}", "not a report"},
      {"{\"schema\": 2, \"files\": [", "not JSON"}};
  for (const auto& [text, message] : cases) {
    std::ofstream(*this / "s.json", std::ios::trunc) << text;
    const Outcome outcome = forebay_command({"report", *this / "s.json"});
    EXPECT_EQ(outcome.status, 1) << text;
    EXPECT_THAT(outcome.errors, testing::AllOf(StartsWith("forebay: "), HasSubstr(message))) << text;
  }
  EXPECT_EQ(forebay_command({"report", *this / "missing.json"}).errors,
            "forebay: cannot read " + *this / "missing.json" + ": No such file or directory\n");
  EXPECT_EQ(forebay_command({"report", folder_}).status, 1);
  EXPECT_EQ(forebay_command({"report"}).status, 2);
}

TEST(Hints, ThePageIsCurrent) {
  const Outcome outcome = forebay_command({"hints", "--markdown"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(slurp(HINTS_PAGE), outcome.output) << "make it anew: forebay hints --markdown > docs/hints.md";
}

TEST(Hints, TheListNamesAll) {
  const Outcome outcome = forebay_command({"hints"});
  EXPECT_THAT(outcome.output,
              HasSubstr("forebay_mode\n    strict | commit | automatic; default: automatic\n"));
  EXPECT_THAT(outcome.output, HasSubstr("nc_num_aggrs_per_node\n"));
}

TEST(Help, AndVersionSucceed) {
  EXPECT_THAT(forebay_command({"--version"}).output, StartsWith("forebay " FOREBAY_VERSION));
  for (const char* command : {"run", "doctor", "report", "hints"}) {
    const Outcome outcome = forebay_command({command, "--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.output, HasSubstr("--")) << command;
  }
}

TEST(Human, SizesAndCounts) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1), "1 byte");
  EXPECT_EQ(human_bytes(1023), "1 023 bytes");
  EXPECT_EQ(human_bytes(1024), "1 KiB");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(std::int64_t{5} << 40), "5 TiB");
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1 000");
  EXPECT_EQ(human_count(1234567), "1 234 567");
  EXPECT_EQ(human_count(-123456), "-123 456");
}

TEST(Subprocess, EndsWhatTakesTooLong) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      run_program({"sh", "-c", "echo begun; sleep 50"}, current_environment(), std::chrono::seconds(1));
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace forebay::tools
