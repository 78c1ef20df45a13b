#include "logs_of_file.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/host_name.hpp"
#include "log/node_log.hpp"
#include "storage/descriptors.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".forebay";

bool is_of(const LogIdentity& identity, const std::string& file) {
  FileId id;
  return !id_at(file, id) || id.inode == identity.inode;
}

void look_at(const std::string& file, LogOfFile& log) {
  const bool there = ::access(log.marked.name.c_str(), F_OK) == 0;
  if (log.marked.done || !there) {
    log.is = log.marked.done                  ? LogIs::in_file
             : log.marked.host == host_name() ? LogIs::gone
                                              : LogIs::elsewhere;
    return;
  }
  std::unique_ptr<NodeLog> opened;
  if (Status status = NodeLog::attach(log.marked.name, -1, opened); !status.ok()) {
    log.is = LogIs::unreadable;
    log.why = status.message();
    return;
  }
  const NodeLog::Content content = opened->content();
  log.writes = content.writes;
  log.bytes = content.bytes;
  // TCIO's level 1, of ranks that have ended.
  if (const std::int64_t left = opened->is_used() ? 0 : opened->left_in_level1(); left > 0) {
    ++log.writes;
    log.bytes += left;
  }
  log.has_keeper = opened->has_drainer();
  log.is = !is_of(opened->identity(), file) ? LogIs::of_another
           : opened->is_used()              ? LogIs::used
           : log.has_keeper                 ? LogIs::being_drained
                                            : LogIs::left;
}

}  // namespace

std::string file_meant(const std::string& name) {
  std::string file = name;
  std::vector<MarkedLog> ignored;
  if (file.ends_with(kSuffix) && read_mark(file, ignored)) file.resize(file.size() - kSuffix.size());
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(file.c_str(), nullptr), &std::free);
  return real ? real.get() : file;
}

bool find_logs_of(const std::string& file, std::vector<LogOfFile>& logs) {
  logs.clear();
  std::vector<MarkedLog> marked;
  if (!read_mark(mark_of(file), marked)) return false;
  for (MarkedLog& each : marked) {
    LogOfFile& log = logs.emplace_back();
    log.marked = std::move(each);
    look_at(file, log);
  }
  return true;
}

std::string mark_of_renamed(const std::string& file) {
  FileId id;
  if (!id_at(file, id)) return {};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::absolute(file, error).parent_path(), error)) {
    const std::string mark = entry.path().string();
    if (!mark.ends_with(kSuffix) || fs::exists(mark.substr(0, mark.size() - kSuffix.size()), error)) continue;
    std::vector<MarkedLog> logs;
    if (!read_mark(mark, logs)) continue;
    for (const MarkedLog& log : logs) {
      std::unique_ptr<NodeLog> opened;
      if (NodeLog::attach(log.name, -1, opened).ok() && opened->identity().inode == id.inode) return mark;
    }
  }
  return {};
}

}  // namespace forebay::tools
