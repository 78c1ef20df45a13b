// Starts writers, and says why where one failed.
#include "launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "machine.hpp"

namespace forebay::bench {
namespace fs = std::filesystem;
namespace {

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file, nullptr, false);
}

}  // namespace

void require_programs(const std::vector<std::string>& programs) {
  for (const std::string& program : programs)
    if (::access(program.c_str(), X_OK) != 0)
      throw std::runtime_error(
          fmt::format("{} is not there or cannot be run; build the project first", program));
}

std::vector<std::string> launcher_words(const std::string& launcher, int ranks) {
  if (launcher.empty()) return {"mpirun", "-n", std::to_string(ranks)};
  return through_shell(launcher);
}

void Launch::fail(const std::string& why) const {
  throw RunFailed(fmt::format("{}: {}\nThe command was: {}\nThe end of its output:\n{}", title_, why,
                              fmt::join(command_.words, " "), last_lines(outcome_.output, 30)));
}

nlohmann::json Launch::run(std::chrono::seconds limit, const std::string& json, int ranks, const char* list,
                           std::size_t entries, const std::function<void()>& watch) {
  outcome_ = run_command(command_, limit, watch, std::chrono::milliseconds(watch ? 2 : 20));
  if (outcome_.timed_out)
    fail(fmt::format("it did not end within {} s and was stopped (--timeout allows more)", limit.count()));
  if (outcome_.status != 0) fail(fmt::format("it ended with status {}", outcome_.status));
  nlohmann::json said = read_json(json);
  if (!said.is_object() || !said.contains(list) || said[list].size() != entries) fail("it left no timings");
  if (said.at("ranks") != ranks)
    fail(fmt::format("it ran on {} ranks; --ranks has to say so", said.at("ranks").dump()));
  return said;
}

nlohmann::json active_file(const std::string& stats, const std::string& path, const std::string& driver) {
  const nlohmann::json report = read_json(stats);
  if (!report.is_object() || !report.contains("files") || !report["files"].is_array())
    throw std::runtime_error("Forebay was not active: it left no report in " + stats);
  for (const nlohmann::json& file : report["files"]) {
    if (fs::path(file.value("path", "")).filename() != fs::path(path).filename()) continue;
    if (file.value("driver", "") != driver || !file.value("active", false))
      throw std::runtime_error("Forebay was not active: its report says " + file.dump());
    return file;
  }
  throw std::runtime_error(
      fmt::format("Forebay was not active: its report does not know {}: {}", path, report.dump()));
}

}  // namespace forebay::bench
