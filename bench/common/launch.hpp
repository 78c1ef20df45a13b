// One launch of a program that writes and leaves a JSON document about it, and the ways it can fail; the same
// for the demo and for benchmarks.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "process.hpp"

namespace forebay::bench {

// A launch that failed, hung or did not do what it was to do; what() says which and shows the end of its
// output.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws std::runtime_error where one is not there or cannot be run.
void require_programs(const std::vector<std::string>& programs);

// The first words of a launch: the user's launcher (a command line), or where that is empty mpirun with
// `ranks`.
std::vector<std::string> launcher_words(const std::string& launcher, int ranks);

class Launch {
 public:
  Launch(std::string title, Command command) : title_(std::move(title)), command_(std::move(command)) {}

  // Runs it to its end and gives what it left in the file `json`: an object with its number of ranks, and
  // under `list` an array of `entries`. Throws RunFailed, also where it ran on other than `ranks` ranks, and
  // Interrupted. `watch` is called every other millisecond meanwhile.
  nlohmann::json run(std::chrono::seconds limit, const std::string& json, int ranks, const char* list,
                     std::size_t entries, const std::function<void()>& watch = nullptr);

  double seconds() const { return outcome_.seconds; }

  // Throws RunFailed: what, why, the command, the end of its output.
  [[noreturn]] void fail(const std::string& why) const;

 private:
  std::string title_;
  Command command_;
  Outcome outcome_;
};

// What Forebay's report `stats` says of the file `path` (by its last part). Throws std::runtime_error where
// it does not know it as one of that driver's ("pnetcdf", "hdf5") and as its own: a stock run is never taken
// for Forebay's.
nlohmann::json active_file(const std::string& stats, const std::string& path, const std::string& driver);

}  // namespace forebay::bench
