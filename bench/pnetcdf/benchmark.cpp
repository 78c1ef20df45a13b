// Plans the launches, starts them, and judges what they left behind.
#include "benchmark.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compare_files.hpp"
#include "machine.hpp"

namespace forebay::bench {
namespace fs = std::filesystem;
namespace {

// The references, the rows' files of one launch, and a plain file. All rows together have about these many
// MiB, and these many more for each rank.
std::int64_t room_needed(Size size, int ranks) {
  constexpr std::int64_t mib = std::int64_t{1} << 20, base[] = {1, 140, 450, 1000},
                         by_rank[] = {1, 8, 25, 60};
  const auto at = static_cast<std::size_t>(size);
  return 2 * mib * (base[at] + by_rank[at] * ranks) + 200 * mib;
}

std::string ask_version(const std::string& writer) {
  const Outcome told = run_command({{writer, "--library"}, {}}, std::chrono::seconds(20));
  std::string version = told.output.substr(0, told.output.find_first_of(" \n"));
  if (!told.ok() || version.empty())
    throw RunFailed(
        fmt::format("{} does not say which PnetCDF it has:\n{}", writer, last_lines(told.output, 10)));
  return version;
}

}  // namespace

Benchmark::Benchmark(BenchmarkOptions options) : options_(std::move(options)) {
  for (const std::string& program : {options_.writer, options_.forebay})
    if (::access(program.c_str(), X_OK) != 0)
      throw std::runtime_error(
          fmt::format("{} is not there or cannot be run; build the project first", program));
  scratch_ = std::make_unique<Scratch>("forebay-pnetcdf", options_.directory,
                                       room_needed(options_.size, options_.ranks), options_.keep);
  allow_oversubscription(options_.ranks);
  results_.library = ask_version(options_.writer);
  results_.ranks = options_.ranks;
  results_.size = size_name(options_.size);
  results_.place = scratch_->path().parent_path().string();
  results_.machine = describe_machine();
  const auto origin = [](const std::string& map) {
    return map.empty() ? std::string("a generated cubed sphere, since there is no recorded map")
                       : "recorded " + fs::path(map).filename().string();
  };
  results_.maps = fmt::format("Decompositions: F {}; G {}", origin(options_.f_map), origin(options_.g_map));

  choose_peers();
  for (const std::string& name : options_.rows) {
    const RowInfo& info = find_row(name);
    RowResult row{std::string(info.name), std::string(info.title), 0, 0, {}, {}};
    for (const Peer& peer : peers_)
      if (peer.kind != Kind::Reference) row.cells.push_back({peer, {}, 0, false});
    results_.rows.push_back(std::move(row));
  }
}

void Benchmark::choose_peers() {
  const std::vector<Peer> all = peers_of(results_.library, find_romio());
  const auto wanted = [&](const Peer& peer) {
    if (peer.kind == Kind::Reference) return true;
    if (options_.peers.empty()) return peer.quick || options_.size != Size::Quick;
    return std::find(options_.peers.begin(), options_.peers.end(), peer.name) != options_.peers.end();
  };
  std::copy_if(all.begin(), all.end(), std::back_inserter(peers_), wanted);
  for (const std::string& name : options_.peers)
    if (std::none_of(all.begin(), all.end(), [&](const Peer& peer) { return peer.name == name; }))
      throw std::runtime_error(fmt::format("PnetCDF {} has no peer {}", results_.library, name));
}

std::string Benchmark::file(const std::string& row, const std::string& tag) const {
  return scratch_->file(fmt::format("{}.{}.nc", tag, row));
}

Command Benchmark::command_for(const Peer& peer, const std::vector<std::string>& rows,
                               const std::string& tag) const {
  Command command;
  if (options_.launcher.empty())
    command.words = {"mpirun", "-n", std::to_string(options_.ranks)};
  else
    command.words = through_shell(options_.launcher);
  const auto add = [&](std::initializer_list<std::string> words) {
    command.words.insert(command.words.end(), words);
  };
  command.environment = peer.environment;
  if (peer.kind == Kind::Forebay) {
    add({options_.forebay, "run", "--stats", scratch_->file(tag + ".stats.json"), "--mode", peer.mode});
    if (!options_.hints.empty()) add({"--hints", options_.hints});
  }
  add({options_.writer, "--size", std::string(size_name(options_.size)), "--json",
       scratch_->file(tag + ".json")});
  if (!options_.f_map.empty()) add({"--f-map", options_.f_map});
  if (!options_.g_map.empty()) add({"--g-map", options_.g_map});
  for (const std::string& hint : peer.hints) add({"--hint", hint});
  for (const std::string& row : rows) add({"--row", row, "--out", file(row, tag)});
  // The limit is measured with the first peer that is timed.
  if (peers_.size() > 1 && peer.name == peers_[1].name) add({"--plain", scratch_->file(tag + ".raw")});
  return command;
}

Results Benchmark::run() {
  launch(peers_.front(), 0);
  check_reference();
  std::vector<Peer> turns(peers_.begin() + 1, peers_.end());
  for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
    for (const Peer& peer : turns) launch(peer, repetition);
    // Each time in another order.
    std::rotate(turns.begin(),
                turns.begin() + static_cast<std::ptrdiff_t>(turns.size() / 3 + 1) %
                                    static_cast<std::ptrdiff_t>(std::max<std::size_t>(turns.size(), 1)),
                turns.end());
  }
  return results_;
}

void Benchmark::launch(const Peer& peer, int repetition) {
  std::vector<std::string> rows;
  rows.reserve(results_.rows.size());
  for (const RowResult& row : results_.rows) rows.push_back(row.name);
  std::rotate(rows.begin(), rows.begin() + repetition % static_cast<int>(rows.size()), rows.end());
  const std::string tag =
      peer.kind == Kind::Reference ? "exact" : fmt::format("{}.{}", peer.name, repetition);
  const std::string json = scratch_->file(tag + ".json"), stats = scratch_->file(tag + ".stats.json");
  fmt::print(stderr, "[{}/{}] {} ... ", repetition + 1, options_.repetitions, peer.title);
  std::fflush(stderr);

  const Command command = command_for(peer, rows, tag);
  const Outcome outcome = run_command(command, options_.limit);
  const auto fail = [&](const std::string& why) {
    fmt::print(stderr, "\n");
    throw RunFailed(fmt::format("{}: {}\nThe command was: {}\nThe end of its output:\n{}", peer.title, why,
                                fmt::join(command.words, " "), last_lines(outcome.output, 30)));
  };
  if (outcome.timed_out)
    fail(fmt::format("it did not end within {} s and was stopped (--timeout allows more)",
                     options_.limit.count()));
  if (outcome.status != 0) fail(fmt::format("it ended with status {}", outcome.status));
  std::ifstream written(json);
  const nlohmann::json said = nlohmann::json::parse(written, nullptr, false);
  if (!said.is_object() || !said.contains("rows") || said["rows"].size() != rows.size())
    fail("it left no timings");
  if (said.at("ranks") != options_.ranks)
    fail(fmt::format("it ran on {} ranks; --ranks has to say so", said.at("ranks").dump()));
  fmt::print(stderr, "{:.1f} s\n", outcome.seconds);
  if (peer.kind == Kind::Forebay) {
    try {
      check_active(peer, stats, rows, tag);
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  keep_sample(peer, said);
  if (peer.kind != Kind::Reference) {
    check_files(peer, rows, tag);
    for (const std::string& row : rows) scratch_->remove(fs::path(file(row, tag)).filename());
  }
  for (const std::string& left : {json, stats}) scratch_->remove(fs::path(left).filename());
}

void Benchmark::keep_sample(const Peer& peer, const nlohmann::json& said) {
  for (const nlohmann::json& one : said.at("rows")) {
    for (RowResult& row : results_.rows) {
      if (one.at("row") != row.name) continue;
      row.bytes = one.at("bytes");
      row.pieces = one.at("pieces");
      if (one.contains("plain_s")) row.plain.push_back(one.at("plain_s"));
      for (Cell& cell : row.cells)
        if (cell.peer.name == peer.name)
          cell.samples.push_back(
              {one.at("create_s"), one.at("data_s"), one.at("close_s"), one.at("extra_memory")});
    }
  }
}

// Never a stock run that is taken for Forebay's: its report has to know every file, and as its own.
void Benchmark::check_active(const Peer& peer, const std::string& stats, const std::vector<std::string>& rows,
                             const std::string& tag) const {
  std::ifstream file_of_report(stats);
  const nlohmann::json report = nlohmann::json::parse(file_of_report, nullptr, false);
  if (!report.is_object() || !report.contains("files") || !report["files"].is_array())
    throw std::runtime_error(peer.title + " was not active: it left no report");
  for (const std::string& row : rows) {
    const auto name = fs::path(file(row, tag)).filename();
    const bool active =
        std::any_of(report["files"].begin(), report["files"].end(), [&](const nlohmann::json& one) {
          return fs::path(one.value("path", "")).filename() == name && one.value("driver", "") == "pnetcdf" &&
                 one.value("active", false) && one.value("bytes", std::int64_t{0}) > 0;
        });
    if (!active)
      throw std::runtime_error(
          fmt::format("{} was not active for row {}: {}", peer.title, row, report.dump()));
  }
}

// What the reference holds is what the row says it puts; else nothing can be told by it.
void Benchmark::check_reference() {
  for (const RowResult& row : results_.rows) {
    const std::int64_t held = bytes_put(file(row.name, "exact"));
    if (held != row.bytes)
      throw RunFailed(fmt::format("the stock library's exact file of row {} holds {} bytes instead of {}",
                                  row.name, held, row.bytes));
  }
}

void Benchmark::check_files(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag) {
  for (const std::string& name : rows) {
    const FileComparison found = compare_files(file(name, "exact"), file(name, tag));
    for (RowResult& row : results_.rows) {
      for (Cell& cell : row.cells) {
        if (row.name != name || cell.peer.name != peer.name) continue;
        cell.untouched = std::max(cell.untouched, found.untouched);
        // Stock may leave what its buffers held in bytes that nobody put; Forebay may not.
        if (found.differences > 0 || (peer.kind == Kind::Forebay && !found.same())) {
          cell.differs = true;
          fmt::print(stderr, "DIFFERENT: {}, row {}: {} bytes, and {} that nobody put; the first is {}\n",
                     peer.title, name, found.differences, found.untouched, found.first);
        }
      }
    }
  }
}

}  // namespace forebay::bench
