// Plans the launches, starts them, and judges what they left behind.
#include "benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "machine.hpp"
#include "memory_watch.hpp"
#include "peer_command.hpp"

namespace forebay::bench {
namespace fs = std::filesystem;
namespace {

std::string ask_version(const std::string& writer) {
  const Outcome told = run_command({{writer, "--library"}, {}}, std::chrono::seconds(20));
  std::string version = told.output.substr(0, told.output.find_first_of(" \n"));
  if (!told.ok() || version.empty())
    throw RunFailed(
        fmt::format("{} does not say which library it has:\n{}", writer, last_lines(told.output, 10)));
  return version;
}

}  // namespace

Benchmark::Benchmark(const Subject& subject, BenchmarkOptions options)
    : subject_(subject), options_(std::move(options)) {
  require_programs({options_.writer, options_.forebay});
  // The references, the rows' files of one launch, and a plain file.
  scratch_ = std::make_unique<Scratch>(
      subject_.program, options_.directory,
      2 * subject_.bytes_of_rows(options_.size, options_.ranks) + (std::int64_t{200} << 20), options_.keep);
  allow_oversubscription(options_.ranks);
  const std::string version = ask_version(options_.writer);
  results_.library = subject_.library + " " + version;
  results_.ranks = options_.ranks;
  results_.size = size_name(options_.size);
  results_.place = scratch_->path().parent_path().string();
  results_.machine = describe_machine();
  results_.input = subject_.input();
  results_.reads = subject_.reads;

  choose_peers(version);
  for (const std::string& name : options_.rows) {
    const RowInfo& info = find_row(subject_.rows, name);
    RowResult row{std::string(info.name), std::string(info.title), 0, 0, {}, {}};
    for (const Peer& peer : peers_)
      if (peer.kind != Kind::Reference && peer.takes_part(row.name))
        row.cells.push_back({peer, {}, 0, false});
    results_.rows.push_back(row);
    if (!subject_.reads_back) continue;
    row.name += "-read";
    row.title += ", read back";
    row.read_back = true;
    results_.rows.push_back(std::move(row));
  }
}

void Benchmark::choose_peers(const std::string& version) {
  const std::vector<Peer> all = subject_.peers(version, find_romio());
  const auto wanted = [&](const Peer& peer) {
    if (peer.kind == Kind::Reference) return true;
    if (options_.peers.empty()) return peer.quick || options_.size != Size::Quick;
    return std::find(options_.peers.begin(), options_.peers.end(), peer.name) != options_.peers.end();
  };
  std::copy_if(all.begin(), all.end(), std::back_inserter(peers_), wanted);
  for (const std::string& name : options_.peers)
    if (std::none_of(all.begin(), all.end(), [&](const Peer& peer) { return peer.name == name; }))
      throw std::runtime_error(fmt::format("{} has no peer {}", results_.library, name));
}

std::string Benchmark::file(const std::string& row, const std::string& tag) const {
  return scratch_->file(fmt::format("{}.{}{}", tag, row, subject_.suffix));
}

// Nobody pays for a report who did not ask for one: where the whole life of a file is timed, only the launch
// that weighs memory writes it.
bool Benchmark::times_all(const std::vector<std::string>& rows) const {
  return rows.size() == 1 && find_row(subject_.rows, rows[0]).whole;
}

Command Benchmark::command_for(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag,
                               bool timed) const {
  Command command =
      peer_command(peer,
                   {options_.launcher, options_.ranks, options_.forebay, options_.writer, options_.hints,
                    timed && times_all(rows) ? "" : scratch_->file(tag + ".stats.json"), options_.before},
                   *scratch_);
  const auto add = [&](const std::vector<std::string>& words) {
    command.words.insert(command.words.end(), words.begin(), words.end());
  };
  add({"--size", std::string(size_name(options_.size)), "--json", scratch_->file(tag + ".json")});
  add(subject_.writer_options());
  const bool reads = subject_.reads && peer.kind != Kind::Reference;
  if (reads) add({"--read"});
  if (subject_.reads_back) add({"--read-back"});
  for (const std::string& row : rows) add({"--row", row, "--out", file(row, reads ? "exact" : tag)});
  // The limit of a row is measured with the first peer that is timed.
  const auto is_first = [&](const RowResult& row) { return row.is_first(peer); };
  if (timed && std::any_of(results_.rows.begin(), results_.rows.end(), is_first))
    add({"--plain", scratch_->file(tag + ".raw")});
  return command;
}

void Benchmark::write_reference() {
  launch(peers_.front(), 0);
  check_reference();
  has_reference_ = true;
}

BenchmarkResults Benchmark::run() {
  if (!has_reference_) write_reference();
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
  for (const RowResult& row : results_.rows)
    if (!row.read_back) rows.push_back(row.name);
  std::rotate(rows.begin(), rows.begin() + repetition % static_cast<int>(rows.size()), rows.end());
  std::erase_if(rows, [&](const std::string& row) { return !peer.takes_part(row); });
  // Each of the reference's by itself, too: ROMIO may leave in gaps that nobody puts what its memory held of
  // a row before.
  const auto by_itself = [&](const std::string& row) {
    return peer.kind == Kind::Reference || find_row(subject_.rows, row).alone;
  };
  const auto others = std::stable_partition(rows.begin(), rows.end(), by_itself);
  for (auto row = rows.begin(); row != others; ++row) launch(peer, repetition, {*row});
  if (others != rows.end()) launch(peer, repetition, {others, rows.end()});
}

void Benchmark::launch(const Peer& peer, int repetition, const std::vector<std::string>& rows) {
  const std::string tag =
      peer.kind == Kind::Reference ? "exact" : fmt::format("{}.{}", peer.name, repetition);
  const std::string json = scratch_->file(tag + ".json"), stats = scratch_->file(tag + ".stats.json");
  fmt::print(stderr, "[{}/{}] {}{} ... ", repetition + 1, options_.repetitions, peer.title,
             rows.size() == 1 ? ", row " + rows[0] : "");
  std::fflush(stderr);

  Launch launch(peer.title, command_for(peer, rows, tag, true));
  nlohmann::json said;
  try {
    said =
        launch.run(options_.limit, json, options_.ranks, "rows", rows.size() * (subject_.reads_back ? 2 : 1));
  } catch (...) {
    fmt::print(stderr, "\n");
    throw;
  }
  fmt::print(stderr, "{:.1f} s\n", launch.seconds());
  if (!times_all(rows)) check_reports(peer, rows, tag, launch);
  keep_sample(peer, said);
  if (peer.kind != Kind::Reference && !subject_.reads) {
    check_files(peer, rows, tag);
    for (const std::string& row : rows) scratch_->remove(fs::path(file(row, tag)).filename());
  }
  for (const std::string& left : {json, stats}) scratch_->remove(fs::path(left).filename());
}

void Benchmark::check_reports(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag,
                              const Launch& launch) {
  if (peer.kind != Kind::Forebay) return;
  const std::string stats = scratch_->file(tag + ".stats.json");
  for (const std::string& row : rows) {
    try {
      const nlohmann::json found =
          active_file(stats, file(row, subject_.reads ? "exact" : tag), subject_.driver_of(row));
      for (const std::string& setting : peer.reported)
        if ((";" + found.value("settings", "") + ";").find(";" + setting + ";") == std::string::npos)
          throw std::runtime_error(fmt::format("Forebay did not keep to {} in row {}: its settings were {}",
                                               setting, row, found.value("settings", "")));
      // In strict mode PnetCDF's independent puts are left to the stock driver, which the report says.
      const std::int64_t by_stock = found.at("stock").at(subject_.reads ? "get_bytes" : "put_bytes");
      // What a library reads of its own accord, as chunks into its cache, is no get.
      const std::int64_t cached = subject_.reads ? found.at("file_reads").value("bytes", std::int64_t{0}) : 0;
      if (by_stock + cached + (subject_.reads ? found.at("gets") : found).value("bytes", std::int64_t{0}) <=
          0)
        throw std::runtime_error("nothing of row " + row + " went through Forebay");
      const std::int64_t calls = found.at(subject_.reads ? "file_reads" : "file_writes").at("count");
      for (RowResult& result : results_.rows)
        for (Cell& cell : result.cells)
          if (result.name == row && !result.read_back && cell.peer.name == peer.name) {
            cell.file_calls = std::max(cell.file_calls, calls);
            cell.report = found;
          }
    } catch (const std::exception& error) {
      launch.fail(error.what());
    }
  }
}

std::optional<double> Benchmark::weigh(const std::string& name, const std::string& row, bool puts) {
  const auto peer =
      std::find_if(peers_.begin(), peers_.end(), [&](const Peer& one) { return one.name == name; });
  const std::string title =
                        fmt::format("{}, row {}, memory{}", peer->title, row, puts ? "" : " without puts"),
                    tag = name + (puts ? ".memory" : ".empty"), json = scratch_->file(tag + ".json"),
                    ready = scratch_->folder(tag + ".ready");
  fmt::print(stderr, "{} ... ", title);
  std::fflush(stderr);
  Command command = command_for(*peer, {row}, tag, false);
  command.words.insert(command.words.end(), {"--ready", ready});
  if (!puts) command.words.emplace_back("--no-puts");
  MemoryWatch memory(ready, options_.ranks);
  Launch launch(title, command);
  launch.run(options_.limit, json, options_.ranks, "rows", 1, [&] { memory.sample(); });
  if (!memory.began()) launch.fail("its ranks were never seen");
  fmt::print(stderr, "{:.1f} MiB\n", static_cast<double>(memory.peak()) / (1 << 20));
  if (puts) {
    check_reports(*peer, {row}, tag, launch);
    check_files(*peer, {row}, tag);
  }
  for (const std::string& left : {json, scratch_->file(tag + ".stats.json"), file(row, tag), ready})
    scratch_->remove(fs::path(left).filename());
  if (memory.ranks_seen() == 0) return std::nullopt;
  return static_cast<double>(memory.peak()) / memory.ranks_seen();
}

void Benchmark::keep_sample(const Peer& peer, const nlohmann::json& said) {
  for (const nlohmann::json& one : said.at("rows")) {
    for (RowResult& row : results_.rows) {
      if (one.at("row") != row.name) continue;
      row.bytes = one.at("bytes");
      row.pieces = one.at("pieces");
      const auto measured = one.value("measured", std::map<std::string, double>());
      if (peer.kind == Kind::Reference) row.reference = measured;
      if (one.contains("plain_s") && row.is_first(peer)) row.plain.push_back(one.at("plain_s"));
      for (Cell& cell : row.cells) {
        if (cell.peer.name != peer.name) continue;
        cell.samples.push_back(
            {one.at("create_s"), one.at("data_s"), one.at("close_s"), one.at("extra_memory"), measured});
        if (one.value("right", true)) continue;
        cell.differs = true;
        fmt::print(stderr, "DIFFERENT: {}, row {}: wrong values were read\n", peer.title, row.name);
      }
    }
  }
}

void Benchmark::check_reference() const {
  for (const RowResult& row : results_.rows) {
    if (row.read_back) continue;
    try {
      subject_.check_reference(file(row.name, "exact"), row.bytes);
    } catch (const std::runtime_error& error) {
      throw RunFailed(fmt::format("the stock library's exact file of row {} {}", row.name, error.what()));
    }
  }
}

void Benchmark::check_files(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag) {
  if (!peer.compared) return;
  for (const std::string& name : rows) {
    const FileComparison found = subject_.compare(file(name, "exact"), file(name, tag));
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
