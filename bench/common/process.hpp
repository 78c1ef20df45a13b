// Running a program: its output kept, its time limited, and taken along when the program is interrupted.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

struct Command {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;  // set, or removed
};

struct Outcome {
  int status = 0;  // its exit status, or 128 + the signal that ended it
  bool timed_out = false;
  double seconds = 0;
  std::string output;  // the end of what it printed

  bool ok() const { return status == 0 && !timed_out; }
};

// Thrown out of whatever was being done when SIGINT, SIGTERM or SIGHUP arrived.
struct Interrupted {
  int signal = 0;
};

// Makes those signals end the program in good order.
void catch_interrupts();
void throw_if_interrupted();

// Runs a command to its end. `watch` is called about every `interval` meanwhile.
Outcome run_command(const Command& command, std::chrono::milliseconds limit,
                    const std::function<void()>& watch = nullptr,
                    std::chrono::milliseconds interval = std::chrono::milliseconds(20));

// The words of a command line, as /bin/sh would see them when it ran the line with more words behind it.
std::vector<std::string> through_shell(const std::string& line);

}  // namespace forebay::bench
