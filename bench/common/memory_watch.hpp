// How much memory a run's ranks take together: the sum of their Pss, which counts a shared page once over all
// that share it, sampled from outside while they run.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forebay::bench {

// The proportional set size of a process in bytes; nothing once it is gone.
std::optional<std::int64_t> pss(int pid);

// The writer's ranks announce themselves in a folder and wait there; see its option --ready.
class MemoryWatch {
 public:
  MemoryWatch(std::string folder, int ranks) : folder_(std::move(folder)), ranks_(ranks) {}

  // To be called again and again while the run lasts. Takes a fifth of one core at most, since looking at a
  // process holds it up.
  void sample();

  bool began() const { return !pids_.empty(); }
  int ranks_seen() const { return static_cast<int>(pids_.size()); }  // those on this machine
  std::int64_t peak() const { return peak_; }  // the most, from the moment when all was set up

 private:
  bool find_ranks();
  std::int64_t sum() const;

  std::string folder_;
  int ranks_;
  std::vector<int> pids_;
  std::int64_t peak_ = 0;
  std::chrono::steady_clock::time_point not_before_{};
};

}  // namespace forebay::bench
