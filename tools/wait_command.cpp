// `forebay wait`: until files are complete that a program has closed in the background.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "base/host_name.hpp"
#include "commands.hpp"
#include "human.hpp"
#include "logs_of_file.hpp"
#include "message.hpp"
#include "progress.hpp"

namespace forebay::tools {
namespace {

enum class File { complete, busy, left };

/// Whether somebody brings what its logs have into the file. `bytes`: that are left, as far as it can be
/// seen.
File look_at(const std::string& file, std::string& why, std::int64_t& bytes) {
  std::vector<LogOfFile> logs;
  bytes = 0;
  if (!find_logs_of(file, logs)) return File::complete;
  File now = File::complete;
  for (const LogOfFile& log : logs) {
    bytes += log.bytes;
    switch (log.is) {
      case LogIs::in_file:
        break;
      case LogIs::elsewhere:  // of what other nodes do only the mark tells
      case LogIs::used:
      case LogIs::being_drained:
        now = File::busy;
        break;
      default:
        why = "nobody completes " + file + ", of which " + log.marked.name + " has a part" +
              (log.is == LogIs::gone         ? " and is not there"
               : log.is == LogIs::of_another ? ", or had one of a file that was called so"
               : log.is == LogIs::unreadable ? " (" + log.why + ")"
                                             : "") +
              "; type: forebay recover " + file;
        return File::left;
    }
  }
  if (now == File::complete) why = "the mark of " + file + " was left behind; type: forebay recover " + file;
  return now == File::complete ? File::left : now;
}

int fail(Progress& progress, const std::string& message) {
  progress.clear();
  fmt::print(stderr, "forebay wait: {}\n", printable(message));
  return exit_failed;
}

}  // namespace

int wait_for_files(const WaitOptions& options) {
  constexpr auto between = std::chrono::milliseconds(50);
  constexpr int looks = 10;  // a log that is being removed looks left behind
  const auto begun = std::chrono::steady_clock::now();
  Progress progress;
  for (const std::string& name : options.files) {
    const std::string file = file_meant(name);
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return fail(progress, "there is no " + name);
    if (std::filesystem::is_directory(file, error)) return fail(progress, name + " is a folder");
    std::string why;
    std::int64_t bytes = 0;
    int left = 0;
    for (File now = look_at(file, why, bytes); now != File::complete; now = look_at(file, why, bytes)) {
      left = now == File::left ? left + 1 : 0;
      if (left > looks) return fail(progress, why);
      if (options.seconds > 0 &&
          std::chrono::steady_clock::now() - begun > std::chrono::seconds(options.seconds))
        return fail(progress, fmt::format("{} is not complete after {} s", name, options.seconds));
      if (progress.is_due())
        progress.show(fmt::format("{}: {} to go", name, bytes > 0 ? human_bytes(bytes) : "some"));
      std::this_thread::sleep_for(between);
    }
  }
  return 0;
}

}  // namespace forebay::tools
