// Runs a program, waits for it within a time limit, and keeps what it says.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace forebay::tools {

struct Outcome {
  int status = -1;     ///< exit status; 128 + signal; -1 where it could not be started or its time was up
  std::string output;  ///< stdout
  std::string errors;  ///< stderr, or why it could not be started
  bool timed_out = false;
};

/// `arguments[0]` is a path or a name in PATH. `environment` is the child's whole environment. When the time
/// is up, the program and its process group are ended.
Outcome run_program(const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& environment, std::chrono::seconds limit);

/// This process's environment.
std::map<std::string, std::string> current_environment();

}  // namespace forebay::tools
