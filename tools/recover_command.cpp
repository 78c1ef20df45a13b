// `forebay recover`: what a program that ended left in logs goes into its file.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "base/host_name.hpp"
#include "commands.hpp"
#include "human.hpp"
#include "log/leftover.hpp"
#include "log/node_log.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

bool is_log(const fs::path& path) {
  return path.filename().string().starts_with("forebay-") && path.extension() == ".log";
}

/// The logs of a file that are here, of a folder with logs, or the log itself. `elsewhere`: what the mark
/// lists that is not here.
Status find_logs(const std::string& what, std::vector<std::string>& logs, std::vector<MarkedLog>& elsewhere,
                 bool& marked) {
  std::error_code error;
  marked = false;
  if (fs::is_directory(what, error)) {
    for (const auto& entry : fs::directory_iterator(what, error)) {
      if (is_log(entry.path())) logs.push_back(entry.path().string());
    }
    if (error) return {Code::io, "cannot list " + what + ": " + error.message()};
    return {};
  }
  if (is_log(what)) {
    logs.push_back(what);
    return {};
  }
  marked = true;
  std::vector<MarkedLog> listed;
  (void)read_mark(mark_of(what), listed);
  for (const MarkedLog& log : listed) {
    if (log.done) continue;
    if (fs::exists(log.name, error) || log.host == host_name())
      logs.push_back(log.name);
    else
      elsewhere.push_back(log);
  }
  if (!listed.empty() || fs::exists(what, error)) return {};
  return {Code::no_such_file, "there is no " + what};
}

void list(const std::string& name) {
  std::unique_ptr<NodeLog> log;
  if (Status status = NodeLog::attach(name, -1, log); !status.ok()) return;
  fmt::print("{}\n  of {}, on {}{}\n", name, log->identity().path, log->identity().host,
             log->is_used() ? ", in use" : "");
  for (const NodeLog::Entry& entry : log->entries())
    fmt::print("  {:>8}  [{}, {})  {} bytes in {} piece{}{}\n", entry.number, entry.begin, entry.end,
               entry.bytes, entry.extents, entry.extents == 1 ? "" : "s",
               entry.whole ? "" : "  cut off: would be left out");
}

}  // namespace

int recover_files(const RecoverOptions& options) {
  int failed = 0;
  for (const std::string& what : options.what) {
    std::vector<std::string> logs;
    bool marked = false;
    std::vector<MarkedLog> elsewhere;
    Status status = find_logs(what, logs, elsewhere, marked);
    if (status.ok() && logs.empty() && elsewhere.empty())
      fmt::print("{}: nothing to recover{}\n", what, marked ? ": no log has any of it" : ": no logs there");
    for (const std::string& name : logs) {
      if (options.dry_run) list(name);
      Recovered recovered;
      Status each = forebay::recover(name, options.dry_run, recovered);
      if (each.ok())
        fmt::print("{}: {} write{}, {} bytes, {} in the file{}\n", name, recovered.appends,
                   recovered.appends == 1 ? "" : "s", recovered.bytes, options.dry_run ? "would be" : "are",
                   recovered.torn > 0
                       ? fmt::format("; {} cut off by the end of the program and left out", recovered.torn)
                       : "");
      status.update(std::move(each));
    }
    for (const MarkedLog& log : elsewhere)
      fmt::print("{}: some of it is in {} on {}: there, type the same\n", what, log.name, log.host);
    if (status.ok()) continue;
    fmt::print(stderr, "forebay recover: {}: {}\n", what, status.message());
    failed = 1;
  }
  return failed;
}

}  // namespace forebay::tools
