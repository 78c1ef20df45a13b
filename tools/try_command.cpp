// forebay try: the same program stock and under Forebay, by turns, each run in a folder of its own.
#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/hints.hpp"
#include "base/printable.hpp"
#include "commands.hpp"
#include "human.hpp"
#include "installation.hpp"
#include "launcher.hpp"
#include "message.hpp"
#include "mpi_launcher.hpp"
#include "page_parts.hpp"
#include "report_file.hpp"
#include "report_formats.hpp"
#include "subprocess.hpp"
#include "template.hpp"
#include "try_compare.hpp"
#include "try_run.hpp"
#include "whole_file.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// So that all can be removed, also what a program has protected.
void open_folders(const fs::path& folder) {
  std::error_code error;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add | fs::perm_options::nofollow, error);
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (at->symlink_status(none).type() == fs::file_type::directory) open_folders(at->path());
  }
}

/// The folder of all runs. It goes with its object, unless it is to stay.
class Workplace {
 public:
  Workplace() = default;
  ~Workplace() {
    if (stays || path.empty()) return;
    std::error_code error;
    fs::remove_all(path, error);
    if (!error) return;
    open_folders(path);
    fs::remove_all(path, error);
    if (error) complain("cannot remove " + path + ": " + error.message());
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  std::string path;
  bool stays = false;
};

struct Run {
  bool forebay = false;
  int repetition = 0;
  std::string folder;   ///< where the program runs
  std::string outside;  ///< what it wrote elsewhere (--output)
  std::string base;     ///< beginning of the names of its report, stdout and stderr
  double seconds = 0;
};

struct Trial {
  TryOptions options;
  Workplace place;
  std::vector<std::string> program;  ///< with whole paths
  std::vector<std::string> outputs;  ///< patterns, whole paths
  std::vector<Run> runs;
  std::string failure;  ///< what a run ended with
};

// ---- before ----

/// Without a slash at its end.
std::string whole(const std::string& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

/// A program that a word names stays the same program in another folder.
void make_words_whole(std::vector<std::string>& words) {
  for (std::string& word : words) {
    if (word.find('/') == word.npos || word.front() == '/' || word.front() == '-') continue;
    std::error_code error;
    if (fs::is_regular_file(word, error) && ::access(word.c_str(), X_OK) == 0) word = whole(word);
  }
}

std::vector<std::string> matches_of(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t result{};
  if (::glob(pattern.c_str(), 0, nullptr, &result) == 0) {
    for (std::size_t i = 0; i < result.gl_pathc; ++i) found.emplace_back(result.gl_pathv[i]);
  }
  ::globfree(&result);
  return found;
}

/// An input keeps the path that the program knows it by; what lies elsewhere is found by its last name.
fs::path place_of(const std::string& input) {
  fs::path name = fs::path(input).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  return name.is_absolute() || *name.begin() == ".." ? name.filename() : name;
}

Status check_inputs(const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::error_code error;
    if (!fs::exists(inputs[i], error)) return {Code::bad_argument, "--input: there is no " + inputs[i]};
    const fs::path place = place_of(inputs[i]);
    if (place.empty() || place == "." || place == "..")
      return {Code::bad_argument, "--input: " + inputs[i] + " has no name; name the files or folders in it"};
    for (std::size_t j = 0; j < i; ++j) {
      // Neither may lie in the other: one is a link.
      const fs::path other = place_of(inputs[j]);
      const auto [at, at_other] = std::mismatch(place.begin(), place.end(), other.begin(), other.end());
      if (at == place.end() || at_other == other.end())
        return {Code::bad_argument, "--input: " + inputs[j] + " and " + inputs[i] +
                                        " would be in one place of the run's folder; leave one out"};
    }
  }
  return {};
}

Status prepare(Trial& trial) {
  TryOptions& o = trial.options;
  if (o.repeat < 1 || o.repeat > 1000) return {Code::bad_argument, "--repeat: between 1 and 1000"};
  trial.program = o.program;
  make_words_whole(trial.program);
  bool denied = false;
  if (find_program(trial.program.front(), denied).empty())
    return {Code::bad_argument, "cannot find the program " + o.program.front()};
  if (o.ranks > 0) {
    std::vector<std::string> launcher = find_mpi_launcher(o.ranks);
    if (launcher.empty())
      return {Code::bad_argument,
              "--ranks: no mpiexec is here; name the launcher: forebay try -- LAUNCHER PROGRAM"};
    o.launcher = std::move(launcher);
  }
  Settings checked;
  if (Status status = parse_hints(checked, o.hints, Origin::command); !status.ok())
    return {status.code(), "--hints: " + status.message()};
  if (!o.mode.empty()) {
    if (Status status = set_hint(checked, "forebay_mode", o.mode, Origin::command); !status.ok())
      return {status.code(), "--mode: " + status.message()};
  }
  if (Status status = check_inputs(o.inputs); !status.ok()) return status;
  if (!o.html.empty()) {
    // Not only after all runs.
    if (Status status = look_at_whole_file(o.html); !status.ok())
      return {status.code(), "--html: " + status.message()};
  }
  for (const std::string& pattern : o.outputs) {
    trial.outputs.push_back(whole(pattern));
    const std::vector<std::string> there = matches_of(trial.outputs.back());
    if (!there.empty())
      return {Code::bad_argument,
              "--output: " + there.front() + " is there already; move it away, it would be lost"};
  }
  const std::string parent = o.folder.empty() ? "." : o.folder;
  std::string name = (fs::path(whole(parent)) / "forebay-try-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return from_errno(errno, "cannot make a folder in " + parent + " (--dir names another one)");
  trial.place.path = name;
  trial.place.stays = o.keep;
  return {};
}

void link_inputs(const TryOptions& options, const std::string& folder) {
  for (const std::string& input : options.inputs) {
    const fs::path link = folder / place_of(input);
    fs::create_directories(link.parent_path());
    fs::create_symlink(whole(input), link);
  }
}

// ---- the runs ----

std::vector<std::string> command_of(const Trial& trial, const Run& run) {
  const TryOptions& o = trial.options;
  std::vector<std::string> words = o.launcher;
  if (run.forebay) {
    words.insert(words.end(), {find_installation().command, "run", "--stats", run.base + ".json"});
    if (!o.hints.empty()) words.insert(words.end(), {"--hints", o.hints});
    if (!o.mode.empty()) words.insert(words.end(), {"--mode", o.mode});
    words.emplace_back("--");
  }
  words.insert(words.end(), trial.program.begin(), trial.program.end());
  return words;
}

std::map<std::string, std::string> environment_of(const Trial& trial, const Run& run) {
  auto environment = trial.options.ranks > 0 ? environment_for_mpi() : current_environment();
  environment.erase("FOREBAY_STATS");
  environment.erase("FOREBAY_TRACE");
  if (!run.forebay) environment["FOREBAY_ENABLE"] = "off";  // also where a program is linked with Forebay
  return environment;
}

std::string tail_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(printable(line));
    if (lines.size() > 10) lines.erase(lines.begin());
  }
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

const char* name_of(const Run& run) {
  return run.forebay ? "Forebay" : "stock";
}

/// On a terminal one line that changes; else a line a run.
class Progress {
 public:
  explicit Progress(int runs) : runs_(runs), terminal_(::isatty(STDERR_FILENO) != 0) {}
  void during(int run, const char* name, double seconds) const {
    if (terminal_)
      std::fputs(fmt::format("\r\x1b[Krun {} of {}: {}, {:.0f} s", run, runs_, name, seconds).c_str(),
                 stderr);
  }
  void done(int run, const char* name, double seconds) const {
    std::fputs(fmt::format("{}run {} of {}: {:<8} {:8.3f} s\n", terminal_ ? "\r\x1b[K" : "", run, runs_, name,
                           seconds)
                   .c_str(),
               stderr);
  }
  void says(const char* what) const {
    if (terminal_) std::fputs(fmt::format("\r\x1b[K{}", what).c_str(), stderr);
  }

 private:
  int runs_;
  bool terminal_;
};

/// Whether `path` is `folder`, or below it.
bool lies_in(const std::string& path, const std::string& folder) {
  return (path + "/").starts_with(folder.ends_with("/") ? folder : folder + "/");
}

/// What the program wrote elsewhere comes to its run, so that the next one finds nothing.
void take_outputs(const Trial& trial, const Run& run) {
  for (const std::string& pattern : trial.outputs) {
    for (const std::string& path : matches_of(pattern)) {
      if (lies_in(trial.place.path, path)) continue;  // as with `*`
      const std::string target = run.outside + path;
      fs::create_directories(fs::path(target).parent_path());
      std::error_code error;
      fs::rename(path, target, error);
      if (!error) continue;
      // Another file system.
      fs::copy(path, target, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      fs::remove_all(path);
    }
  }
}

/// Whether the run's folder has it.
bool is_input(const TryOptions& options, const std::string& word) {
  return std::any_of(options.inputs.begin(), options.inputs.end(), [&](const std::string& input) {
    const std::string place = whole(input);
    return (whole(word) + "/").starts_with(place.ends_with("/") ? place : place + "/");
  });
}

/// As a shell takes it, to be copied.
std::string for_shell(const std::string& word) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_-./+,:@%", c) != nullptr;
  };
  if (std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void say_how_it_failed(const Trial& trial, const Run& run, int status) {
  std::string text = fmt::format("the {} run ended with status {}", name_of(run), status);
  complain(text + "; the end of what it said:");
  std::string said = tail_of(run.base + ".stderr");
  if (said.empty()) said = tail_of(run.base + ".stdout");
  std::fputs(said.c_str(), stderr);
  for (const std::string& word : trial.program) {
    std::error_code error;
    if (&word == &trial.program.front() || word.empty() || word.front() == '/' || word.front() == '-' ||
        !fs::exists(word, error) || is_input(trial.options, word))
      continue;
    complain("the program runs in a folder of its own, where there is no " + word +
             "; if it reads that: --input " + for_shell(word));
  }
}

int say_interrupted(const Trial& trial, int signal) {
  if (::isatty(STDERR_FILENO) != 0) std::fputs("\r\x1b[K", stderr);
  complain(std::string("interrupted; ") +
           (trial.options.keep ? "the runs are in " + trial.place.path : "nothing is left"));
  return 128 + signal;
}

/// The exit status where it is over: a signal came, or the program failed.
int run_all(Trial& trial) {
  const TryOptions& o = trial.options;
  const Progress progress(2 * o.repeat);
  for (int i = 0; i < 2 * o.repeat; ++i) {
    Run run;
    run.repetition = i / 2 + 1;
    // In turn, and the first in turn, too: what the first of a pair warms, the second one finds.
    run.forebay = (i % 2 == 1) == (run.repetition % 2 == 1);
    run.base = fmt::format("{}/{}-{}", trial.place.path, run.forebay ? "forebay" : "stock", run.repetition);
    run.folder = run.base;
    run.outside = run.base + ".elsewhere";
    fs::create_directory(run.folder);
    fs::create_directory(run.outside);
    link_inputs(o, run.folder);
    progress.during(i + 1, name_of(run), 0);
    const TimedRun timed =
        run_in_folder(command_of(trial, run), environment_of(trial, run), run.folder, run.base + ".stdout",
                      run.base + ".stderr", [&](double s) { progress.during(i + 1, name_of(run), s); });
    take_outputs(trial, run);
    if (const int signal = Interruptible::signal(); signal != 0) return say_interrupted(trial, signal);
    if (timed.status != 0) {
      progress.says("");
      say_how_it_failed(trial, run, timed.status);
      complain(o.keep ? "the runs are in " + trial.place.path
                      : std::string("nothing is left of the runs; with --keep their folders stay"));
      return exit_failed;
    }
    run.seconds = timed.seconds;
    progress.done(i + 1, name_of(run), run.seconds);
    trial.runs.push_back(std::move(run));
  }
  progress.says("comparing files …");
  return 0;
}

// ---- what came of it ----

struct Result {
  std::vector<std::pair<double, double>> times;  ///< stock, Forebay
  double stock = 0, forebay = 0;                 ///< medians
  std::vector<FileVerdict> files;
  bool identical = true;
  std::string verdict;
  std::vector<std::string> reasons;
  std::size_t judged = 0;  ///< files that tell something
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

const Run& find_run(const Trial& trial, bool forebay, int repetition) {
  return *std::find_if(trial.runs.begin(), trial.runs.end(), [&](const Run& run) {
    return run.forebay == forebay && run.repetition == repetition;
  });
}

std::vector<FileVerdict> compare_runs(const Run& a, const Run& b) {
  std::vector<FileVerdict> verdicts = compare_folders(a.folder, b.folder);
  for (FileVerdict& verdict : compare_folders(a.outside, b.outside)) {
    verdict.name = "/" + verdict.name;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

/// The worst of all repetitions, by file. What differs between two stock runs, too, tells nothing.
void compare_all(const Trial& trial, Result& result) {
  std::map<std::string, FileVerdict> worst;
  std::set<std::string> restless;
  for (int i = 1; i <= trial.options.repeat; ++i) {
    for (FileVerdict& verdict : compare_runs(find_run(trial, false, i), find_run(trial, true, i))) {
      const auto known = worst.find(verdict.name);
      if (known == worst.end() || known->second.alike < verdict.alike) worst[verdict.name] = verdict;
    }
  }
  const bool any_different = std::any_of(worst.begin(), worst.end(), [](const auto& file) {
    return file.second.alike == Alike::different || file.second.alike == Alike::unknown;
  });
  for (int i = 2; any_different && i <= trial.options.repeat; ++i) {
    for (const FileVerdict& verdict : compare_runs(find_run(trial, false, 1), find_run(trial, false, i))) {
      if (verdict.alike == Alike::different || verdict.alike == Alike::unknown) restless.insert(verdict.name);
    }
  }
  for (auto& [name, verdict] : worst) {
    if (restless.contains(name)) {
      verdict.alike = Alike::unknown;
      verdict.why = "it differs between stock runs, too";
    } else if (verdict.alike == Alike::different || verdict.alike == Alike::unknown) {
      result.identical = false;
      if (verdict.alike == Alike::different) {
        if (verdict.why.starts_with("the second run")) verdict.why = "the run under Forebay did not write it";
        if (verdict.why.starts_with("the first run")) verdict.why = "the stock run did not write it";
      }
    }
    if (verdict.alike != Alike::unknown) ++result.judged;
    result.files.push_back(verdict);
  }
}

bool served_any(const Trial& trial) {
  json report;
  return read_report(find_run(trial, true, trial.options.repeat).base + ".json", report).ok() &&
         !report.at("files").empty();
}

/// What the report of the last run under Forebay says of a missing gain.
std::vector<std::string> reasons_in(const Trial& trial) {
  const Run& last = find_run(trial, true, trial.options.repeat);
  std::vector<std::string> reasons;
  const auto add = [&](std::string reason) {
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(std::move(reason));
  };
  json report;
  if (!read_report(last.base + ".json", report).ok() || report.at("files").empty()) {
    add("Forebay served no file: the program wrote none by HDF5, PnetCDF or Forebay's own calls, or these "
        "could not "
        "be reached. `forebay doctor` and `forebay run --verbose PROGRAM` tell more");
    return reasons;
  }
  double seconds = 0;
  for (const json& file : report.at("files")) seconds += seconds_in(file);
  const std::string share = fmt::format(
      "{:.3f} s of the last run's {:.3f} s were in Forebay (average rank); the rest is the program's own "
      "time and its start",
      seconds, last.seconds);
  if (seconds < last.seconds / 2) add(share);
  for (const json& file : report.at("files")) {
    for (const json& reason : file.at("stock").at("reasons"))
      add("the stock driver was used because " + reason.get<std::string>());
    for (const json& note : file.at("notes")) add(note.get<std::string>());
  }
  add(share);
  return reasons;
}

std::string times_as(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio >= 9.95 ? 0 : 1);
}

Result judge(const Trial& trial) {
  Result result;
  std::vector<double> stock, forebay;
  for (int i = 1; i <= trial.options.repeat; ++i) {
    stock.push_back(find_run(trial, false, i).seconds);
    forebay.push_back(find_run(trial, true, i).seconds);
    result.times.emplace_back(stock.back(), forebay.back());
  }
  result.stock = median(stock);
  result.forebay = median(forebay);
  compare_all(trial, result);
  const double ratio = result.forebay > 0 ? result.stock / result.forebay : 1;
  const auto [least_stock, most_stock] = std::minmax_element(stock.begin(), stock.end());
  const auto [least_forebay, most_forebay] = std::minmax_element(forebay.begin(), forebay.end());
  // Runs that lie among each other tell no difference, nor do runs in which Forebay did nothing.
  const bool faster = *most_forebay < *least_stock && ratio >= 1.05 && served_any(trial);
  // What forebay run itself takes to start says nothing about a job.
  constexpr double start = 0.1;
  const bool slower =
      *most_stock < *least_forebay && ratio <= 1 / 1.05 && result.forebay - result.stock > start;
  if (!faster || !result.identical) result.reasons = reasons_in(trial);
  if (!result.identical) {
    const auto first = std::find_if(result.files.begin(), result.files.end(), [](const FileVerdict& file) {
      return file.alike == Alike::different ||
             (file.alike == Alike::unknown && !file.why.starts_with("it differs between"));
    });
    result.verdict = "DIFFERENT: " + first->name + ": " + first->why;
    return result;
  }
  const std::string same = result.files.empty()
                               ? "no files to compare (--output names those written elsewhere)"
                           : result.judged == 0 ? "no file that stock writes twice alike"
                                                : "identical";
  if (faster)
    result.verdict = same + ", " + times_as(ratio) + " times faster";
  else
    result.verdict = same + (slower ? ", " + times_as(1 / ratio) + " times slower: " : ", no gain: ") +
                     result.reasons.front();
  return result;
}

const char* word_of(Alike alike) {
  switch (alike) {
    case Alike::bytes:
      return "identical";
    case Alike::contents:
      return "same contents";
    case Alike::different:
      return "DIFFERENT";
    case Alike::unknown:
      break;
  }
  return "not judged";
}

void print(const Trial& trial, const Result& result) {
  if (::isatty(STDERR_FILENO) != 0) std::fputs("\r\x1b[K", stderr);
  fmt::print("{:<10}{:>12}{:>12}\n", "run", "stock", "Forebay");
  for (std::size_t i = 0; i < result.times.size(); ++i)
    fmt::print("{:<10}{:>10.3f} s{:>10.3f} s\n", i + 1, result.times[i].first, result.times[i].second);
  fmt::print("{:<10}{:>10.3f} s{:>10.3f} s\n", "median", result.stock, result.forebay);
  constexpr std::size_t most = 20;
  std::size_t shown = 0;
  for (const FileVerdict& file : result.files) {
    const bool matters = file.alike == Alike::different || file.alike == Alike::unknown;
    if (!matters && ++shown > most) continue;
    fmt::print("{:<14}{}{}\n", word_of(file.alike), printable(file.name),
               file.why.empty() ? "" : " (" + printable(file.why) + ")");
  }
  if (shown > most)
    fmt::print("… and {} more that are identical\n", human_count(static_cast<std::int64_t>(shown - most)));
  for (std::size_t i = 1; i < result.reasons.size(); ++i)
    fmt::print("note: {}\n", printable(result.reasons[i]));
  fmt::print("{}\n", printable(result.verdict));
  if (trial.place.stays) fmt::print("The runs are in {}\n", printable(trial.place.path));
}

Status write_page(const Trial& trial, const Result& result) {
  json runs = json::array(), plot = json::array(), files = json::array();
  for (std::size_t i = 0; i < result.times.size(); ++i) {
    const auto& [stock, forebay] = result.times[i];
    runs.push_back(
        {{"cells",
          {std::to_string(i + 1), fmt::format("{:.3f} s", stock), fmt::format("{:.3f} s", forebay)}}});
    plot.push_back({stock, forebay});
  }
  for (const FileVerdict& file : result.files)
    files.push_back({{"path", file.name},
                     {"verdict", word_of(file.alike)},
                     {"why", file.why},
                     {"size", human_bytes(file.bytes)},
                     {"bytes", std::to_string(file.bytes)}});
  std::string command;
  for (const std::string& word : trial.options.program) command += (command.empty() ? "" : " ") + word;
  json report;
  std::string version;
  if (read_report(find_run(trial, true, trial.options.repeat).base + ".json", report).ok())
    version = report.value("forebay", "");
  json page{{"title", "forebay try: " + command},
            {"command", command},
            {"ranks", trial.options.ranks > 0 ? std::to_string(trial.options.ranks) + " ranks, " : ""},
            {"forebay", version},
            {"verdict", result.verdict},
            {"different", !result.identical},
            {"stock", fmt::format("{:.3f} s", result.stock)},
            {"served", fmt::format("{:.3f} s", result.forebay)},
            {"ratio", fmt::format("{:.2f}", result.forebay > 0 ? result.stock / result.forebay : 1)},
            {"repeat", trial.options.repeat},
            {"reasons", result.reasons},
            {"charts",
             {{{"id", "times"},
               {"title", "Time of each run"},
               {"note", "The whole run, its start included."},
               {"heads", {"Run", "Stock", "Forebay"}},
               {"rows", std::move(runs)}}}},
            {"files", std::move(files)},
            {"data", script_json({{"stages", json::array()},
                                  {"files", {{{"name", "all"}, {"runs", std::move(plot)}}}}})}};
  std::string lacks;
  const std::string text = finish_page(page_template::attempt, std::move(page), chart_library(lacks));
  if (Status status = write_whole_file(trial.options.html, text); !status.ok()) return status;
  if (!lacks.empty()) complain(lacks + trial.options.html + " has its tables alone");
  return {};
}

}  // namespace

int try_program(const TryOptions& options) {
  Trial trial;
  trial.options = options;
  if (const Status status = prepare(trial); !status.ok()) {
    complain(status.message());
    return exit_usage;
  }
  const Interruptible interruptible;
  if (const int status = run_all(trial); status != 0) return status;
  const Result result = judge(trial);
  if (const int signal = Interruptible::signal(); signal != 0) return say_interrupted(trial, signal);
  if (!result.identical) trial.place.stays = true;
  print(trial, result);
  if (!options.html.empty()) {
    if (const Status status = write_page(trial, result); !status.ok()) {
      complain("--html: " + status.message());
      return exit_failed;
    }
  }
  return result.identical ? 0 : exit_failed;
}

}  // namespace forebay::tools
