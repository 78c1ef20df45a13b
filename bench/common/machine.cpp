// Asks /proc, ompi_info and the file system.
#include "machine.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>
#include <utility>

#include "process.hpp"

namespace forebay::bench {
namespace fs = std::filesystem;

std::string describe_machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  while (std::getline(info, line)) {
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  }
  return fmt::format("{}, {} cores", model, std::thread::hardware_concurrency());
}

std::string find_romio() {
  const Outcome told =
      run_command({{"ompi_info", "--parsable", "--param", "io", "all"}, {}}, std::chrono::seconds(20));
  std::smatch found;
  const std::regex component("mca:io:(romio[0-9]+):");
  if (!told.ok()) return "romio341";
  return std::regex_search(told.output, found, component) ? found[1].str() : "";
}

std::string find_program(const std::string& name) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path candidates[] = {here / name, here / "../../tools" / name, here / "../bin" / name};
  for (const fs::path& candidate : candidates)
    if (fs::is_regular_file(candidate, error)) return fs::weakly_canonical(candidate);
  return (here / "../../tools" / name).lexically_normal();
}

void allow_oversubscription(int ranks) {
  ::setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
  if (std::cmp_greater(ranks, std::thread::hardware_concurrency()))
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

std::string last_lines(const std::string& text, std::size_t count) {
  std::size_t at = text.size();
  for (std::size_t lines = 0; at > 0; --at)
    if (text[at - 1] == '\n' && at != text.size() && ++lines == count) break;
  std::string shown = "  | " + std::regex_replace(text.substr(at), std::regex("\n(?=.)"), "\n  | ");
  return text.empty() ? "  (it printed nothing)" : shown;
}

}  // namespace forebay::bench
