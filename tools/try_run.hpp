// Runs a command in a folder, as long as it takes, and ends it where the user ends us.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace forebay::tools {

/// From here on SIGINT, SIGTERM and SIGHUP end the command that runs, and nothing else, until the object
/// goes.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  /// The signal that came; 0: none.
  static int signal();
};

struct TimedRun {
  int status = -1;  ///< exit status; 128 + signal; 127 where it cannot be executed
  double seconds = 0;
};

/// stdin is empty; stdout and stderr go to the files. `meanwhile` is called each second.
TimedRun run_in_folder(const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& environment, const std::string& folder,
                       const std::string& output, const std::string& errors,
                       const std::function<void(double seconds)>& meanwhile);

}  // namespace forebay::tools
