// Starting probes, and telling from their traces whether Forebay was in the path.
#include "doctor_probe.hpp"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "launcher.hpp"
#include "mpi_launcher.hpp"
#include "probe_facts.hpp"
#include "subprocess.hpp"

namespace forebay::tools {
namespace {

constexpr std::chrono::seconds limit{60};

std::map<std::string, std::string> clean_environment() {
  auto environment = environment_for_mpi();
  // The driver is what a trial is about; it chooses it itself.
  environment.erase("HDF5_DRIVER");
  environment.erase("HDF5_DRIVER_CONFIG");
  return environment;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// What Forebay wrote, without its prefix, joined. A banner of a launcher or a profile is not ours to judge.
std::string forebay_lines(const std::string& errors) {
  constexpr std::string_view prefix = "forebay: ";
  std::string reason;
  std::istringstream stream(errors);
  for (std::string text; std::getline(stream, text);) {
    if (!text.starts_with(prefix)) continue;
    if (!reason.empty()) reason += "; ";
    reason += text.substr(prefix.size());
  }
  return reason;
}

/// The first paragraph of the first banner, which Open MPI draws between lines of dashes: the cause, where
/// later ones are what came of it. "" without a banner.
std::string first_banner(const std::string& errors) {
  std::string paragraph;
  bool in_banner = false;
  std::istringstream stream(errors);
  for (std::string text; std::getline(stream, text);) {
    if (text.size() > 20 && text.find_first_not_of('-') == std::string::npos) {
      if (!paragraph.empty()) break;
      in_banner = true;
    } else if (in_banner && !text.empty()) {
      paragraph += (paragraph.empty() ? "" : " ") + text;
    } else if (!paragraph.empty()) {
      break;
    }
  }
  return paragraph;
}

void read_stats(const std::string& stats, const std::string& library, const std::string& path,
                ProbeResult& result) {
  try {
    const auto document = nlohmann::json::parse(read_file(stats));
    for (const auto& file : document.at("files")) {
      if (file.at("path") != path || file.at("driver") != library) continue;
      result.active = file.at("active").get<bool>() && file.at("requests").get<std::int64_t>() > 0;
      result.pieces = file.at("pieces").get<std::int64_t>();
      result.file_writes = file.at("file_writes").at("count").get<std::int64_t>();
      result.ranks = file.at("ranks").get<std::int64_t>();
      result.written = {file.at("storage").get<std::string>(), file.at("stripe_bytes").get<std::int64_t>(),
                        file.at("stripe_source").get<std::string>(),
                        file.at("storage_targets").get<std::int64_t>()};
    }
  } catch (const std::exception& error) {
    result.problem = std::string("the report of the test file cannot be read: ") + error.what();
  }
}

}  // namespace

std::string reason_in(std::string errors) {
  std::erase(errors, '\0');  // Open MPI ends its banners with one
  if (std::string reason = forebay_lines(errors); !reason.empty()) return reason;
  std::string last;
  std::istringstream stream(errors);
  for (std::string text; std::getline(stream, text);) {
    if (text.starts_with("probe: ")) return text;
    if (!text.empty()) last = text;
  }
  const std::string banner = first_banner(errors);
  return banner.empty() ? last : banner;
}

Prober::Prober(const Installation& installation, std::string folder)
    : installation_(installation),
      folder_(std::move(folder)),
      launcher_(find_mpi_launcher(2)),
      environment_(clean_environment()) {}

std::string Prober::launcher() const {
  std::string text;
  for (const std::string& word : launcher_) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string Prober::probe_program(const std::string& library) const {
  return installation_.helpers + "/forebay-probe-" + library;
}

ProbeResult Prober::try_library(const std::string& library) const {
  ProbeResult result;
  const std::string probe = probe_program(library);
  bool denied = false;
  if (find_program(probe, denied).empty()) {
    result.problem = "the test program " + probe + " is missing";
    result.advice = "Install Forebay as a whole; nothing was found out about this driver.";
    return result;
  }
  const std::string file = folder_ + "/" + library + (library == "hdf5" ? ".h5" : ".nc");
  const std::string stats = folder_ + "/" + library + ".json";
  const std::vector<std::string> run{installation_.command, "run", "--stats", stats, probe, "write", file};
  std::vector<std::string> arguments = launcher_;
  arguments.insert(arguments.end(), run.begin(), run.end());
  Outcome outcome = run_program(arguments, environment_, limit);
  std::string launch_problem;
  if (outcome.status != 0 && !launcher_.empty()) {
    const Outcome alone = run_program(run, environment_, limit);
    if (alone.status == 0) {
      launch_problem = "two ranks could not be started (" +
                       (outcome.timed_out ? "not done after a minute" : reason_in(outcome.errors)) +
                       "), one could";
      outcome = alone;
    }
  }
  result.facts = probe_facts(outcome.output);
  result.problem = launch_problem;
  if (outcome.status != 0) {
    result.problem = outcome.timed_out ? "the test program was not done after a minute"
                                       : "the test program failed: " + reason_in(outcome.errors);
    result.advice = "See whether it works without Forebay: " + probe + " write FILE";
    return result;
  }
  read_stats(stats, library, file, result);
  const Outcome check = run_program({probe, "check", file}, environment_, limit);
  result.file_correct = check.status == 0;
  if (!result.active) {
    const std::string reason = forebay_lines(outcome.errors);
    result.problem =
        reason.empty() ? "the file was written, but not through Forebay, and nothing says why" : reason;
    result.advice = "With the cause removed, run forebay doctor again; forebay run --verbose shows more.";
  } else if (!result.file_correct) {
    result.problem = "the file does not hold what was written: " + reason_in(check.errors);
    result.advice = "Do not use Forebay here (FOREBAY_ENABLE=off), and report this.";
  } else if (!forebay_lines(outcome.errors).empty() && result.problem.empty()) {
    result.problem = forebay_lines(outcome.errors);
  }
  return result;
}

std::string Prober::try_plugin(const std::string& plugins) const {
  const std::string file = folder_ + "/plugin.h5";
  const std::string stats = folder_ + "/plugin.json";
  auto environment = environment_;
  environment["HDF5_DRIVER"] = "forebay";
  environment["HDF5_PLUGIN_PATH"] = plugins;
  environment["FOREBAY_STATS"] = stats;
  const Outcome outcome = run_program({probe_program("hdf5"), "plugin", file}, environment, limit);
  if (outcome.status != 0) return outcome.timed_out ? "not done after a minute" : reason_in(outcome.errors);
  ProbeResult result;
  read_stats(stats, "hdf5", file, result);
  return result.active ? "" : "the file was not written through Forebay";
}

}  // namespace forebay::tools
