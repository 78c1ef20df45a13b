// One file: where it lies, whether a log has some of it, and whether its header fits.
#include "doctor_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "commands.hpp"
#include "doctor_folder.hpp"
#include "file_header.hpp"
#include "human.hpp"
#include "log/leftover.hpp"
#include "logs_of_file.hpp"
#include "message.hpp"

namespace forebay::tools {
namespace {

using Json = nlohmann::ordered_json;

/// What is found, and what follows from it.
class Findings {
 public:
  void missing(std::string sentence) { add("missing", std::move(sentence)); }
  void note(std::string sentence) { add("note", std::move(sentence)); }
  /// To be typed, or done. Once.
  void advise(const std::string& what) {
    if (std::find(advice_.begin(), advice_.end(), what) == advice_.end()) advice_.push_back(what);
  }
  bool complete() const { return complete_; }
  const Json& list() const { return list_; }
  const std::vector<std::string>& advice() const { return advice_; }

 private:
  void add(const char* kind, std::string sentence) {
    complete_ = complete_ && std::string_view(kind) != "missing";
    list_.push_back({{"kind", kind}, {"text", std::move(sentence)}});
  }
  Json list_ = Json::array();
  std::vector<std::string> advice_;
  bool complete_ = true;
};

const char* word_of(LogIs is) {
  switch (is) {
    case LogIs::in_file:
      return "in the file";
    case LogIs::elsewhere:
      return "elsewhere";
    case LogIs::gone:
      return "gone";
    case LogIs::unreadable:
      return "unreadable";
    case LogIs::of_another:
      return "of another file";
    case LogIs::used:
      return "in use";
    case LogIs::being_drained:
      return "being drained";
    case LogIs::left:
      break;
  }
  return "left behind";
}

std::string in_words(const LogOfFile& log) {
  switch (log.is) {
    case LogIs::in_file:
      return "all of it is in the file";
    case LogIs::elsewhere:
      return "is not to be seen from this host";
    case LogIs::gone:
      return "should be on this host, and is not there";
    case LogIs::unreadable:
      return log.why;
    case LogIs::of_another:
      return "is of another file, which had this name";
    case LogIs::used:
      return log.has_keeper ? "in use by a program; its keeper process writes it as the program ends"
                            : "in use by a program";
    case LogIs::being_drained:
      return "the program has closed the file, and its keeper process completes it";
    case LogIs::left:
      break;
  }
  return "left behind by a program that has ended";
}

void judge(const std::string& file, const LogOfFile& log, Findings& findings) {
  const std::string size =
      fmt::format("{} in {}", human_bytes(log.bytes), counted(log.writes, "write", "writes"));
  const std::string recover = "forebay recover " + file;
  switch (log.is) {
    case LogIs::in_file:
      return;
    case LogIs::elsewhere:
      findings.missing("what the log on " + log.marked.host + " has is not in the file");
      findings.advise("on " + log.marked.host + ": " + recover + " (if that log is lost: rm " +
                      mark_of(file) + ")");
      return;
    case LogIs::gone:
      findings.missing("what the log had is not in the file");
      findings.advise("bring back the disk that had the log; if it is lost: rm " + mark_of(file) +
                      ", and take the file as it is");
      return;
    case LogIs::unreadable:
      findings.missing("what the log has is not in the file");
      findings.advise("as who owns the log, with the same version of Forebay: " + recover);
      return;
    case LogIs::of_another:
      findings.missing("the log does not fit: the file was replaced, or copied here");
      findings.advise("move the file that it is of back here, then: " + recover + "; or, for good: rm " +
                      log.marked.name + " " + mark_of(file));
      return;
    case LogIs::used:
      if (log.writes == 0) return;
      findings.missing(size + " are in the log, and not in the file yet");
      findings.advise("wait until the program syncs or closes the file");
      return;
    case LogIs::being_drained:
      findings.missing(size + " are in the log, and not in the file yet");
      findings.advise("forebay wait " + file);
      return;
    case LogIs::left:
      findings.missing(size + " are in the log, and not in the file");
      findings.advise(recover);
  }
}

void judge(const std::string& file, const FileHeader& header, std::int64_t bytes, bool marked,
           Findings& findings) {
  // Then the header may be in the log.
  const char* const first = marked ? "; complete it first" : "";
  if (!header.problem.empty()) findings.missing("the header: " + header.problem + first);
  if (header.open_for_writing) {
    findings.missing(std::string("its superblock says that it is open for writing") +
                     (header.swmr ? ", for readers at the same time (SWMR)" : "") +
                     ": a program has it open, or ended without closing it");
    if (!marked) findings.advise("if no program has it open: h5clear -s " + file);
  }
  if (header.format.starts_with("HDF5")) {
    if (header.told_end > bytes)
      findings.missing(
          fmt::format("its superblock tells {} bytes, and the file has {}: HDF5 calls it truncated{}",
                      header.told_end, bytes, first));
    return;
  }
  if (header.records > header.whole_records)
    findings.missing(
        fmt::format("the header counts {}, and the file holds {} whole: the last ones were cut off, or "
                    "not all of their variables were written{}",
                    counted(header.records, "record", "records"), header.whole_records, first));
  else if (header.records >= 0 && header.records < header.whole_records)
    findings.missing(
        fmt::format("the header counts {}, and the file has room for {}: readers do not see the last "
                    "ones, which no sync had counted{}",
                    counted(header.records, "record", "records"), header.whole_records, first));
  else if (header.records < 0 && header.told_end > bytes)
    findings.note(
        fmt::format("the file ends {} before its last variable does: that was not written to its end",
                    human_bytes(header.told_end - bytes)));
}

std::string format_of(const FileHeader& header, std::int64_t bytes) {
  if (header.format.empty())
    return bytes == 0 ? "empty" : "neither HDF5 nor classic netCDF, or its header was never written";
  return header.format +
         (header.records >= 0 ? ", " + counted(header.records, "record", "records") : std::string());
}

void line(const std::string& label, const std::string& text) {
  fmt::print("  {:<14}{}\n", label, printable(text));
}

void print_text(const Json& d, const std::vector<LogOfFile>& logs) {
  fmt::print("{}\n", printable(d["file"].get<std::string>()));
  line("size", human_bytes(d["bytes"].get<std::int64_t>()));
  line("format", d["format"].get<std::string>());
  print_file_system(d["file_system"]);
  line("mark", d["mark"].get<std::string>().empty() ? "none: no log is known to have some of it"
                                                    : d["mark"].get<std::string>());
  for (const LogOfFile& log : logs) {
    line("log", fmt::format("{} on {}", log.marked.name, log.marked.host));
    line("", in_words(log));
    if (log.writes > 0)
      line("", fmt::format("{} in {}, not in the file", human_bytes(log.bytes),
                           counted(log.writes, "write", "writes")));
  }
  for (const Json& each : d["findings"])
    line(each["kind"].get<std::string>(), each["text"].get<std::string>());
  for (const Json& each : d["advice"]) line("what to do", each.get<std::string>());
  fmt::print("{}\n", d["verdict"].get<std::string>());
}

Json in_json(const LogOfFile& log) {
  return {{"path", as_utf8(log.marked.name)},
          {"host", as_utf8(log.marked.host)},
          {"state", word_of(log.is)},
          {"keeper_process", log.has_keeper},
          {"writes", log.writes},
          {"bytes", log.bytes},
          {"problem", as_utf8(log.why)}};
}

}  // namespace

int examine_file(const std::string& name, bool json) {
  const std::string file = file_meant(name);
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  const int error = opened.number() < 0 || ::fstat(opened.number(), &status) != 0 ? errno : 0;
  std::vector<LogOfFile> logs;
  const bool marked = find_logs_of(file, logs);
  if (error != 0) {
    complain(
        from_errno(error, "cannot open " + file).message() +
        (marked ? "; " + mark_of(file) +
                      " says that logs have some of it: move the file back to this name, then type: forebay "
                      "recover " +
                      file
                : std::string()));
    return exit_failed;
  }
  const auto bytes = static_cast<std::int64_t>(status.st_size);
  const FileHeader header = read_header(opened.number(), bytes);

  Findings findings;
  for (const LogOfFile& log : logs) judge(file, log, findings);
  if (marked && std::ranges::all_of(logs, [](const LogOfFile& log) { return log.is == LogIs::in_file; })) {
    findings.note("all logs are in the file: the mark was left behind");
    findings.advise("forebay recover " + file + ", which removes the mark");
  }
  if (!marked) {
    if (const std::string other = mark_of_renamed(file); !other.empty()) {
      const std::string old = other.substr(0, other.size() - mark_of("").size());
      findings.missing("it was called " + old + " when a program ended, and a log has some of it");
      findings.advise("mv " + file + " " + old + " && forebay recover " + old);
    }
  }
  judge(file, header, bytes, !findings.complete(), findings);

  Json d{{"file", as_utf8(file)},
         {"bytes", bytes},
         {"format", format_of(header, bytes)},
         {"header",
          {{"end_bytes", header.told_end},
           {"records", header.records},
           {"whole_records", header.whole_records},
           {"open_for_writing", header.open_for_writing},
           {"swmr", header.swmr}}},
         {"file_system", examine_file_system(file, opened.number(), bytes)},
         {"mark", marked ? as_utf8(mark_of(file)) : ""},
         {"logs", Json::array()},
         {"findings", findings.list()},
         {"advice", Json::array()},
         {"ok", findings.complete()}};
  for (const LogOfFile& log : logs) d["logs"].push_back(in_json(log));
  for (const std::string& each : findings.advice()) d["advice"].push_back(as_utf8(each));
  d["verdict"] = findings.complete() ? "Nothing is missing, as far as the file itself tells."
                                     : "The file is not complete.";
  if (json)
    fmt::print("{}\n", d.dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_text(d, logs);
  return findings.complete() ? 0 : exit_failed;
}

}  // namespace forebay::tools
