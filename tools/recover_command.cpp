// `forebay recover`: what a program that ended left in logs goes into its file.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "base/host_name.hpp"
#include "commands.hpp"
#include "human.hpp"
#include "log/leftover.hpp"
#include "log/node_log.hpp"
#include "logs_of_file.hpp"
#include "message.hpp"
#include "progress.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

bool is_log(const fs::path& path) {
  return path.filename().string().starts_with("forebay-") && path.extension() == ".log";
}

/// What is to be done for one word of the command line.
struct Work {
  std::vector<std::string> logs;     ///< that are here, or should be
  std::vector<MarkedLog> elsewhere;  ///< that the mark lists, and that are not here
  std::string file;                  ///< "": the word is a folder, or a log
};

/// Of a file that has no mark: what may have become of it.
std::string without_mark(const std::string& file) {
  if (const std::string other = mark_of_renamed(file); !other.empty())
    return "it was called " + other.substr(0, other.size() - mark_of("").size()) +
           " when a program ended: move it back to that name, and type the same with it";
  return "no mark lies beside it. If the mark is lost, name the folder that has the logs (forebay_log)";
}

Status find_work(const std::string& what, Work& work) {
  std::error_code error;
  if (fs::is_directory(what, error)) {
    for (const auto& entry : fs::directory_iterator(what, error)) {
      if (is_log(entry.path())) work.logs.push_back(entry.path().string());
    }
    std::sort(work.logs.begin(), work.logs.end());
    return error ? Status{Code::io, "cannot list " + what + ": " + error.message()} : Status{};
  }
  if (is_log(what)) {
    work.logs.push_back(what);
    return {};
  }
  work.file = file_meant(what);
  std::vector<MarkedLog> listed;
  const bool marked = read_mark(mark_of(work.file), listed);
  for (const MarkedLog& log : listed) {
    if (log.done) continue;
    if (fs::exists(log.name, error) || log.host == host_name())
      work.logs.push_back(log.name);
    else
      work.elsewhere.push_back(log);
  }
  if (marked || fs::exists(work.file, error)) return {};
  return {Code::no_such_file, "there is no " + what};
}

void list(const std::string& name, const Recovered& found) {
  std::unique_ptr<NodeLog> log;
  if (!NodeLog::attach(name, -1, log).ok()) return;
  fmt::print("{}\n  of {}, on {}\n", printable(name), printable(log->identity().path), log->identity().host);
  for (const NodeLog::Entry& entry : found.entries)
    fmt::print("  {:>8}  [{}, {})  {} bytes in {}{}\n", entry.number, entry.begin, entry.end, entry.bytes,
               counted(entry.extents, "piece", "pieces"), entry.whole ? "" : "  cut off: would be left out");
}

/// A log that the mark lists and that is not there.
Status gone(const std::string& file, const std::string& log) {
  return {Code::no_such_file, "the log " + log +
                                  " is not there. If its disk comes back, type the same again. If it "
                                  "is lost, so are the writes that it had: rm " +
                                  mark_of(file) + ", and take " + file + " as it is"};
}

class Recovery {
 public:
  explicit Recovery(bool dry) : dry_(dry) {}

  bool take(const std::string& what) {
    Work work;
    if (Status status = find_work(what, work); !status.ok()) return fail(status);
    bool well = true;
    for (const std::string& name : work.logs) well = one(work.file, name) && well;
    for (const MarkedLog& log : work.elsewhere) {
      progress_.clear();
      fmt::print("{}: some of it is in {} on {}: there, type the same\n", printable(what),
                 printable(log.name), printable(log.host));
    }
    if (!work.logs.empty() || !work.elsewhere.empty()) {
      if (work.logs.size() > 1) total(what, work.logs.size());
      return well;
    }
    return nothing(what, work.file);
  }

 private:
  bool one(const std::string& file, const std::string& name) {
    std::error_code error;
    if (!file.empty() && !fs::exists(name, error)) return fail(gone(file, name));
    Recovered recovered;
    Status status = forebay::recover(name, dry_, recovered, [&](std::int64_t done, std::int64_t all) {
      if (progress_.is_due())
        progress_.show(fmt::format("{}: {} % of {}", fs::path(name).filename().string(),
                                   100 * done / std::max<std::int64_t>(all, 1), human_bytes(all / 2)));
    });
    progress_.clear();
    if (!status.ok()) return fail(status);
    if (dry_) list(name, recovered);
    fmt::print("{}: {}, {} bytes, {} in the file{}\n", printable(name),
               counted(recovered.appends, "write", "writes"), recovered.bytes, dry_ ? "would be" : "are",
               recovered.torn > 0
                   ? fmt::format("; {} cut off by the end of the program and left out", recovered.torn)
                   : "");
    bytes_ += recovered.bytes;
    ++done_;
    return true;
  }

  bool nothing(const std::string& what, const std::string& file) const {
    std::vector<MarkedLog> listed;
    if (file.empty()) {
      fmt::print("{}: nothing to recover: no logs there\n", printable(what));
    } else if (read_mark(mark_of(file), listed)) {
      if (!dry_) remove_mark(file);
      fmt::print("{}: nothing to recover: all of it is in the file; the mark {}\n", printable(what),
                 dry_ ? "would be removed" : "is removed");
    } else {
      fmt::print("{}: nothing to recover: {}\n", printable(what), printable(without_mark(file)));
    }
    return true;
  }

  void total(const std::string& what, std::size_t logs) {
    fmt::print("{}: {} of {} logs, {}, {} in their files\n", printable(what), done_, logs,
               human_bytes(bytes_), dry_ ? "would be" : "are");
    done_ = 0;
    bytes_ = 0;
  }

  static bool fail(const Status& status) {
    std::fflush(stdout);
    fmt::print(stderr, "forebay recover: {}\n", printable(status.message()));
    return false;
  }

  bool dry_;
  Progress progress_;
  std::size_t done_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace

int recover_files(const RecoverOptions& options) {
  Recovery recovery(options.dry_run);
  bool well = true;
  for (const std::string& what : options.what) well = recovery.take(what) && well;
  return well ? 0 : exit_failed;
}

}  // namespace forebay::tools
