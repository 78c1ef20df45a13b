// `forebay wait`: until files are complete that a program has closed in the background.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "base/host_name.hpp"
#include "commands.hpp"
#include "log/leftover.hpp"
#include "log/node_log.hpp"

namespace forebay::tools {
namespace {

enum class File { complete, busy, left };

/// Whether somebody brings what its logs have into the file.
File look_at(const std::string& file, std::string& log) {
  std::vector<MarkedLog> logs;
  if (!read_mark(mark_of(file), logs)) return File::complete;
  const std::string here = host_name();
  bool complete = true;
  for (const MarkedLog& each : logs) {
    std::unique_ptr<NodeLog> found;
    // Of what other nodes do only the mark tells.
    if (each.done) continue;
    const bool there = NodeLog::attach(each.name, -1, found).ok();
    const bool at_work = there ? found->is_used() || found->has_drainer()
                               : each.host != here && ::access(each.name.c_str(), F_OK) != 0;
    if (!at_work && there && found->empty()) continue;  // whose mark could not be changed
    if (!at_work) {
      log = each.name;
      return File::left;
    }
    complete = false;
  }
  return complete ? File::complete : File::busy;
}

}  // namespace

int wait_for_files(const WaitOptions& options) {
  constexpr auto between = std::chrono::milliseconds(50);
  constexpr int looks = 10;  // a log that is being removed looks left behind
  const auto begun = std::chrono::steady_clock::now();
  for (const std::string& file : options.files) {
    if (::access(file.c_str(), F_OK) != 0) {
      fmt::print(stderr, "forebay wait: there is no {}\n", file);
      return 1;
    }
    std::string log;
    int left = 0;
    for (File now = look_at(file, log); now != File::complete; now = look_at(file, log)) {
      left = now == File::left ? left + 1 : 0;
      if (left > looks) {
        fmt::print(stderr,
                   "forebay wait: nobody completes {}, of which {} has a part; type: forebay recover {}\n",
                   file, log, file);
        return 1;
      }
      if (options.seconds > 0 &&
          std::chrono::steady_clock::now() - begun > std::chrono::seconds(options.seconds)) {
        fmt::print(stderr, "forebay wait: {} is not complete after {} s\n", file, options.seconds);
        return 1;
      }
      std::this_thread::sleep_for(between);
    }
  }
  return 0;
}

}  // namespace forebay::tools
