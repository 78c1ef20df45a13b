// forebay doctor FILE, recover and wait, of files that have logs in every state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "../log/log_tools.hpp"
#include "base/host_name.hpp"
#include "command.hpp"
#include "file_header.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;
using test::LoggedFile;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A file of which a log has two writes.
struct HalfDone : LoggedFile {
  HalfDone() {
    path = fs::canonical(path).string();
    log_name = fs::canonical(log_name).string();
    list({{host_name(), log_name, false}});
    const auto log = rank(0);
    const std::vector<std::byte> data(1000, std::byte{7});
    for (int i = 0; i < 2; ++i) {
      const Piece piece{i * 4000, data.data(), 1000};
      EXPECT_TRUE(log->append({&piece, 1}, *below).ok());
    }
  }
  void list(const std::vector<MarkedLog>& logs) const { EXPECT_TRUE(write_mark(path, logs).ok()); }
  std::string mark() const { return mark_of(path); }
  /// Its only log, as doctor sees it.
  std::string state() const {
    const Outcome outcome = forebay_command({"doctor", "--json", path});
    return nlohmann::json::parse(outcome.output).at("logs").at(0).at("state");
  }
};

// ---- forebay doctor FILE ----

TEST(DoctorFile, AFileWithoutAMarkIsComplete) {
  const LoggedFile file;
  remove_mark(file.path);
  std::ofstream(file.path) << "some text";
  const Outcome outcome = forebay_command({"doctor", file.path});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  for (const char* part : {"  size          9 bytes\n", "neither HDF5 nor classic netCDF", "file system",
                           "coherent", "locks", "storage", "stripe", "none: no log", "Nothing is missing"})
    EXPECT_THAT(outcome.output, HasSubstr(part));
  EXPECT_EQ(forebay_command({"doctor", file.folder + "/none"}).status, 1);
  EXPECT_THAT(forebay_command({"doctor", file.folder + "/none"}).errors,
              HasSubstr("cannot open " + file.folder + "/none"));
}

TEST(DoctorFile, ALogThatWasLeftIsToldWithWhatToType) {
  const HalfDone file;
  const Outcome outcome = forebay_command({"doctor", file.path});
  EXPECT_EQ(outcome.status, 1);
  for (const std::string& part :
       {file.mark(), file.log_name + " on " + host_name(),
        std::string("left behind by a program that has ended"), std::string("2.0 KiB in 2 writes"),
        "what to do    forebay recover " + file.path + "\n", std::string("The file is not complete.")})
    EXPECT_THAT(outcome.output, HasSubstr(part));
  const auto json = nlohmann::json::parse(forebay_command({"doctor", "--json", file.path}).output);
  EXPECT_EQ(json["logs"][0]["state"], "left behind");
  EXPECT_EQ(json["logs"][0]["bytes"], 2000);
  EXPECT_EQ(json["logs"][0]["writes"], 2);
  EXPECT_EQ(json["ok"], false);
}

// By a link, or by the mark itself.
TEST(DoctorFile, IsFoundByItsOtherNames) {
  const HalfDone file;
  fs::create_symlink(file.path, file.folder + "/link");
  for (const std::string& name : {file.folder + "/link", file.mark()})
    EXPECT_THAT(forebay_command({"doctor", name}).output, HasSubstr("forebay recover " + file.path + "\n"))
        << name;
}

TEST(DoctorFile, EachStateOfALogHasAWord) {
  HalfDone file;
  EXPECT_EQ(file.state(), "left behind");
  auto log = file.rank(0);
  EXPECT_EQ(file.state(), "in use");
  log = file.rank(-1);
  ASSERT_TRUE(log->be_drainer());
  EXPECT_EQ(file.state(), "being drained");
  EXPECT_THAT(forebay_command({"doctor", file.path}).output, HasSubstr("forebay wait " + file.path));
  log.reset();
  fs::rename(file.path, file.path + ".old");
  std::ofstream(file.path) << "another";
  EXPECT_EQ(file.state(), "of another file");
  fs::rename(file.path + ".old", file.path);
  fs::rename(file.log_name, file.log_name + ".away");
  EXPECT_EQ(file.state(), "gone");
  EXPECT_THAT(forebay_command({"doctor", file.path}).output, HasSubstr("rm " + file.mark()));
  file.list({{"node9", file.log_name, false}});
  EXPECT_EQ(file.state(), "elsewhere");
  EXPECT_THAT(forebay_command({"doctor", file.path}).output,
              HasSubstr("on node9: forebay recover " + file.path));
  std::ofstream(file.log_name) << "no log";
  EXPECT_EQ(file.state(), "unreadable");
  std::ofstream(file.mark(), std::ios::app) << "done " << file.log_name << "\n";
  EXPECT_EQ(file.state(), "in the file");
  const Outcome left = forebay_command({"doctor", file.path});
  EXPECT_EQ(left.status, 0);
  EXPECT_THAT(left.output, HasSubstr("the mark was left behind"));
}

TEST(DoctorFile, AFileThatWasRenamedIsRecognized) {
  HalfDone file;
  const std::string moved = file.folder + "/moved.dat";
  fs::rename(file.path, moved);
  const Outcome outcome = forebay_command({"doctor", moved});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output,
              HasSubstr("mv " + moved + " " + file.path + " && forebay recover " + file.path));
  EXPECT_THAT(forebay_command({"recover", moved}).output, HasSubstr("it was called " + file.path));
  EXPECT_THAT(forebay_command({"doctor", file.path}).errors, HasSubstr("move the file back to this name"));
}

// ---- headers ----

std::string big(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = width - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}
std::string little(std::uint64_t value, int width) {
  const std::string bytes = big(value, width);
  return {bytes.rbegin(), bytes.rend()};
}

/// As the specification of the classic formats has it: a dimension of 3, one of records, an attribute, a
/// variable of 3 shorts, and variables of records: of a short, and, where `several`, of a double as well.
std::string classic(int version, std::uint64_t records, bool several, std::uint64_t begin) {
  const int count = version == 5 ? 8 : 4, offset = version == 1 ? 4 : 8;
  const auto n = [&](std::uint64_t value) { return big(value, count); };
  const auto name = [&](const std::string& text) {
    return n(text.size()) + text + std::string((4 - text.size() % 4) % 4, '\0');
  };
  const auto variable = [&](const char* called, std::uint64_t dimension, int type, std::uint64_t at) {
    return name(called) + n(1) + n(dimension) + big(0, 4) + n(0) + big(static_cast<std::uint64_t>(type), 4) +
           n(8) + big(at, offset);
  };
  std::string text = std::string("CDF") + static_cast<char>(version) + n(records);
  text += big(10, 4) + n(2) + name("three") + n(3) + name("time") + n(0);
  text += big(12, 4) + n(1) + name("title") + big(2, 4) + n(5) + "hello" + std::string(3, '\0');
  text += big(11, 4) + n(several ? 3 : 2) + variable("fixed", 0, 3, begin - 8) + variable("a", 1, 3, begin);
  if (several) text += variable("b", 1, 6, begin + 4);
  return text;
}

struct HeaderOfFile : InFolder {
  FileHeader of(const std::string& text, std::int64_t bytes) {
    const std::string name = *this / "file";
    std::ofstream(name, std::ios::binary | std::ios::trunc) << text;
    fs::resize_file(name, static_cast<std::uintmax_t>(bytes));
    const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    last_ = forebay_command({"doctor", name});
    return read_header(file.number(), bytes);
  }
  Outcome last_;
};

TEST_F(HeaderOfFile, NetcdfRecordsFit) {
  for (const int version : {1, 2, 5}) {
    for (const bool several : {false, true}) {
      // One variable of records alone is not padded.
      const std::int64_t begin = 1024, record = several ? 12 : 2;
      const std::string text = classic(version, 5, several, begin);
      const FileHeader fits = of(text, begin + 5 * record);
      EXPECT_EQ(fits.format, "netCDF, CDF-" + std::to_string(version));
      EXPECT_EQ(fits.problem, "");
      EXPECT_EQ(fits.records, 5);
      EXPECT_EQ(fits.whole_records, 5);
      EXPECT_EQ(fits.told_end, begin + 5 * record);
      EXPECT_EQ(last_.status, 0) << last_.output;
      EXPECT_EQ(of(text, begin + 5 * record - 1).whole_records, 4);
      EXPECT_EQ(last_.status, 1);
      EXPECT_THAT(last_.output, HasSubstr("counts 5 records, and the file holds 4 whole"));
      EXPECT_EQ(of(text, begin + 5 * record + 3).whole_records, 5) << "padding";
      EXPECT_EQ(of(text, begin + 7 * record).whole_records, 7);
      EXPECT_EQ(last_.status, 1);
      EXPECT_THAT(last_.output, HasSubstr("has room for 7"));
      EXPECT_EQ(of(text, 40).problem.empty(), false) << "cut within the header";
      EXPECT_EQ(last_.status, 1);
    }
  }
}

TEST_F(HeaderOfFile, NetcdfOfNonsenseEndsWell) {
  const std::string whole = classic(5, 5, true, 1024);
  for (std::size_t at = 3; at < whole.size(); ++at) {
    std::string bent = whole;
    bent[at] = static_cast<char>(~bent[at]);
    const std::string name = *this / "bent";
    std::ofstream(name, std::ios::binary | std::ios::trunc) << bent;
    const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    (void)read_header(file.number(), static_cast<std::int64_t>(bent.size()));
  }
}

TEST_F(HeaderOfFile, Hdf5OpenForWritingAndTruncated) {
  const std::string magic = "\x89HDF\r\n\x1a\n";
  const auto superblock = [&](int version, int flags, std::uint64_t end) {
    if (version < 2)
      return magic + std::string(1, static_cast<char>(version)) + std::string(4, '\0') + "\x08\x08" +
             std::string(9, '\0') + std::string(version == 1 ? 4 : 0, '\0') + little(0, 8) +
             little(~std::uint64_t{0}, 8) + little(end, 8) + little(~std::uint64_t{0}, 8);
    return magic + std::string(1, static_cast<char>(version)) + "\x08\x08" +
           std::string(1, static_cast<char>(flags)) + little(0, 8) + little(~std::uint64_t{0}, 8) +
           little(end, 8) + little(48, 8) + little(0, 4);
  };
  for (const int version : {0, 1, 2, 3}) {
    FileHeader header = of(superblock(version, 0, 4096), 4096);
    EXPECT_EQ(header.format, "HDF5, superblock " + std::to_string(version));
    EXPECT_EQ(header.told_end, 4096);
    EXPECT_FALSE(header.open_for_writing);
    EXPECT_EQ(last_.status, 0) << last_.output;
    (void)of(superblock(version, 0, 4096), 4000);
    EXPECT_EQ(last_.status, 1);
    EXPECT_THAT(last_.output, HasSubstr("4096 bytes, and the file has 4000"));
    // Behind a user block.
    EXPECT_EQ(of(std::string(512, 'u') + superblock(version, 0, 4608), 4608).told_end, 4608);
  }
  FileHeader open = of(superblock(3, 1, 4096), 4096);
  EXPECT_TRUE(open.open_for_writing);
  EXPECT_FALSE(open.swmr);
  EXPECT_EQ(last_.status, 1);
  EXPECT_THAT(last_.output, HasSubstr("h5clear -s "));
  EXPECT_TRUE(of(superblock(3, 5, 4096), 4096).swmr);
  EXPECT_FALSE(of(superblock(2, 1, 4096), 4096).open_for_writing) << "version 2 does not say";
  EXPECT_NE(of(superblock(9, 0, 4096), 4096).problem, "");
}

// The flag may go with what the log has.
TEST(DoctorFile, TheLogComesBeforeH5clear) {
  const HalfDone file;
  std::ofstream(file.path, std::ios::binary | std::ios::in)
      << "\x89HDF\r\n\x1a\n\x03\x08\x08\x01" << std::string(8, '\0') << std::string(8, '\xff')
      << little(100, 8) << std::string(100, '\0');
  const Outcome outcome = forebay_command({"doctor", file.path});
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("open for writing"), HasSubstr("forebay recover"), Not(HasSubstr("h5clear"))));
}

// ---- forebay recover ----

TEST(RecoverCommand, TakesFileLinkMarkLogOrFolder) {
  for (const char* by : {"file", "link", "mark", "log", "folder"}) {
    const HalfDone file;
    fs::create_symlink(file.path, file.folder + "/link");
    const std::string what = std::string(by) == "file"   ? file.path
                             : std::string(by) == "link" ? file.folder + "/link"
                             : std::string(by) == "mark" ? file.mark()
                             : std::string(by) == "log"  ? file.log_name
                                                         : file.folder;
    const Outcome dry = forebay_command({"recover", "--dry-run", what});
    EXPECT_EQ(dry.status, 0) << by << dry.errors;
    EXPECT_THAT(dry.output,
                AllOf(HasSubstr("1000 bytes in 1 piece"), HasSubstr("2000 bytes, would be in the file")));
    EXPECT_TRUE(fs::exists(file.mark()));
    const Outcome outcome = forebay_command({"recover", what});
    EXPECT_EQ(outcome.status, 0) << by << outcome.errors;
    EXPECT_EQ(outcome.output, file.log_name + ": 2 writes, 2000 bytes, are in the file\n");
    EXPECT_EQ(outcome.errors, "") << "no line that is meant for a terminal";
    EXPECT_FALSE(fs::exists(file.mark()));
    EXPECT_FALSE(fs::exists(file.log_name));
    EXPECT_EQ(file.content(4001)[4000], std::byte{7});
  }
}

TEST(RecoverCommand, WrongArgumentsAreTold) {
  EXPECT_EQ(forebay_command({"recover"}).status, 2);
  EXPECT_EQ(forebay_command({"recover", "--dryrun", "x"}).status, 2);
  HalfDone file;
  const auto fails = [&](const std::vector<std::string>& words, const std::string& why) {
    std::vector<std::string> all{"recover"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = forebay_command(all);
    EXPECT_EQ(outcome.status, 1) << words.back();
    EXPECT_THAT(outcome.errors, HasSubstr(why));
  };
  fails({file.folder + "/none"}, "there is no " + file.folder + "/none");
  fails({file.folder + "/forebay-none.log"}, "No such file");
  std::ofstream(file.folder + "/forebay-x.log") << "nonsense";
  fails({file.folder + "/forebay-x.log"}, "is no log of this version");
  {
    const auto log = file.rank(0);
    fails({file.path}, "is in use");
  }
  // What is wrong with one does not keep back another.
  fails({file.folder}, "is no log of this version");
  EXPECT_FALSE(fs::exists(file.log_name));
  fs::create_directory(file.folder + "/empty");
  const Outcome empty = forebay_command({"recover", file.folder + "/empty", file.path});
  EXPECT_EQ(empty.status, 0);
  EXPECT_THAT(empty.output, AllOf(HasSubstr("no logs there"), HasSubstr("no mark lies beside it")));
}

TEST(RecoverCommand, EachWayToBeLostSaysWhatToDo) {
  HalfDone file;
  const std::string moved = file.path + ".moved";
  fs::rename(file.path, moved);
  Outcome outcome = forebay_command({"recover", file.path});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, AllOf(HasSubstr("move it back to that name"),
                                    HasSubstr("rm " + file.log_name + " " + file.mark())));
  fs::copy_file(moved, file.path);
  outcome = forebay_command({"recover", file.path});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("has been replaced, or was copied"));
  fs::rename(moved, file.path);
  fs::rename(file.log_name, file.log_name + ".away");
  outcome = forebay_command({"recover", file.path});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, AllOf(HasSubstr("is not there"), HasSubstr("rm " + file.mark())));
  fs::rename(file.log_name + ".away", file.log_name);
  // Without the mark the folder still leads to the log.
  remove_mark(file.path);
  EXPECT_THAT(forebay_command({"recover", file.path}).output, HasSubstr("name the folder that has the logs"));
  EXPECT_EQ(forebay_command({"recover", file.folder}).status, 0);
  EXPECT_EQ(file.content(4001)[4000], std::byte{7});
  file.list({{host_name(), file.log_name, false}});
  std::ofstream(file.mark(), std::ios::app) << "done " << file.log_name << "\n";
  outcome = forebay_command({"recover", file.path});
  EXPECT_THAT(outcome.output, HasSubstr("the mark is removed"));
  EXPECT_FALSE(fs::exists(file.mark()));
}

TEST(RecoverCommand, AFolderOfManyLogsHasATotal) {
  std::vector<std::unique_ptr<HalfDone>> files;
  const std::string folder = fs::temp_directory_path() / ("forebay-logs-" + std::to_string(getpid()));
  fs::create_directory(folder);
  constexpr int count = 12;
  for (int i = 0; i < count; ++i) {
    files.push_back(std::make_unique<HalfDone>());
    fs::rename(files.back()->log_name, folder + "/" + fs::path(files.back()->log_name).filename().string());
  }
  const Outcome outcome = forebay_command({"recover", folder});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr(folder + ": 12 of 12 logs, 23.4 KiB, are in their files\n"));
  for (const auto& file : files) EXPECT_FALSE(fs::exists(file->mark()));
  fs::remove_all(folder);
}

// ---- forebay wait ----

TEST(WaitCommand, ReturnsWhenTheFileIsComplete) {
  HalfDone file;
  EXPECT_EQ(forebay_command({"wait"}).status, 2);
  EXPECT_EQ(forebay_command({"wait", "--timeout", "-1", file.path}).status, 2);
  EXPECT_EQ(forebay_command({"wait", "--timeout", "soon", file.path}).status, 2);
  EXPECT_THAT(forebay_command({"wait", file.folder}).errors, HasSubstr("is a folder"));
  EXPECT_THAT(forebay_command({"wait", file.folder + "/none"}).errors, HasSubstr("there is no"));
  Outcome outcome = forebay_command({"wait", file.path});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors,
              AllOf(HasSubstr("nobody completes"), HasSubstr("forebay recover " + file.path)));
  {
    const auto log = file.rank(0);
    outcome = forebay_command({"wait", "--timeout", "1", file.path});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.errors, HasSubstr("is not complete after 1 s"));
  }
  fs::create_symlink(file.path, file.folder + "/link");
  EXPECT_EQ(forebay_command({"wait", file.folder + "/link"}).status, 1) << "its file has a mark";
  ASSERT_EQ(forebay_command({"recover", file.path}).status, 0);
  EXPECT_EQ(forebay_command({"wait", file.path, file.folder + "/link"}).status, 0);
}

/// What a command writes on a terminal.
std::string on_a_terminal(std::vector<std::string> words) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = ::read(terminal, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST(WaitCommand, ATerminalHasALineThatGoes) {
  HalfDone file;
  const auto log = file.rank(0);
  const std::string text = on_a_terminal({FOREBAY, "wait", "--timeout", "2", file.path});
  const std::size_t line = text.find(file.path + ": 2.0 KiB to go");
  ASSERT_NE(line, text.npos) << text;
  EXPECT_NE(text.find("\r\x1b[Kforebay wait: ", line), text.npos)
      << "it is gone before the message: " << text;
}

}  // namespace
}  // namespace forebay::tools
