// Reads /proc/PID/smaps_rollup of a run's ranks.
#include "memory_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace forebay::bench {
namespace fs = std::filesystem;

std::optional<std::int64_t> pss(int pid) {
  std::ifstream rollup(fmt::format("/proc/{}/smaps_rollup", pid));
  std::string word;
  while (rollup >> word) {
    std::int64_t kilobytes = 0;
    if (word == "Pss:" && rollup >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

bool MemoryWatch::find_ranks() {
  std::string here;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> here;
  std::vector<int> found;
  for (int rank = 0; rank < ranks_; ++rank) {
    std::ifstream announced(fs::path(folder_) / fmt::format("rank.{}", rank));
    int pid = 0;
    std::string machine;
    if (!(announced >> pid >> machine)) return false;
    if (machine == here) found.push_back(pid);
  }
  pids_ = std::move(found);
  return true;
}

std::int64_t MemoryWatch::sum() const {
  std::int64_t total = 0;
  for (const int pid : pids_) total += pss(pid).value_or(0);
  return total;
}

void MemoryWatch::sample() {
  const bool first = !began();
  if (first && !find_ranks()) return;
  const auto begin = std::chrono::steady_clock::now();
  if (begin < not_before_) return;
  peak_ = std::max(peak_, sum());
  const auto end = std::chrono::steady_clock::now();
  not_before_ = end + 4 * (end - begin);
  if (first) std::ofstream(fs::path(folder_) / "go") << "go\n";
}

}  // namespace forebay::bench
