// Medians, ratios, and their presentation as text and JSON.
#include "benchmark_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace forebay::bench {
namespace {

template <typename Get>
std::vector<double> collect(const std::vector<Sample>& samples, Get&& get) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(get(sample));
  return values;
}

double data_of(const Sample& sample) {
  return sample.data;
}

std::string scaled(double value) {
  return value < 9.95 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

std::string count(std::int64_t number) {
  if (number < 10000) return fmt::format("{}", number);
  return number < 1000000 ? fmt::format("{:.1f} thousand", static_cast<double>(number) / 1e3)
                          : fmt::format("{:.2f} million", static_cast<double>(number) / 1e6);
}

void append(std::string& text, const BenchmarkResults& results, const RowResult& row) {
  text += fmt::format(
      "\n{}: {}\n  {:.1f} MB in {} pieces of {:.1f} bytes on average\n", row.name, row.title,
      static_cast<double>(row.bytes) / 1e6, count(row.pieces),
      static_cast<double>(row.bytes) / static_cast<double>(std::max<std::int64_t>(row.pieces, 1)));
  text += fmt::format("  {:<18}{:>9}{:>9}{:>9}{:>9}{:>8}{:>10}{:>10}{:>9}\n", "", "create", "data", "fastest",
                      "slowest", "GB/s", "of limit", "MiB/rank", results.reads ? "reads" : "writes");
  const double limit = median_of(row.plain);
  double slowest = limit;
  for (const Cell& cell : row.cells) slowest = std::max(slowest, cell.median());
  const auto bar = [&](double seconds) {
    return std::string(static_cast<std::size_t>(std::max(1.0, 30 * seconds / std::max(slowest, 1e-9))), '#');
  };
  const auto rate = [&](double seconds) {
    return seconds > 0 ? static_cast<double>(row.bytes) / seconds / 1e9 : 0;
  };
  if (!row.plain.empty()) {
    const auto [least, most] = std::minmax_element(row.plain.begin(), row.plain.end());
    text += fmt::format("  {:<18}{:>9}{:>9.4f}{:>9.4f}{:>9.4f}{:>8.3f}{:>10}{:>10}{:>9}  {}\n",
                        results.reads || row.read_back ? "plain reads" : "plain writes", "", limit, *least,
                        *most, rate(limit), "", "", "", bar(limit));
  }
  for (const Cell& cell : row.cells) {
    if (cell.samples.empty()) continue;
    const std::vector<double> data = collect(cell.samples, data_of);
    const auto [least, most] = std::minmax_element(data.begin(), data.end());
    const double create = median_of(collect(cell.samples, [](const Sample& one) { return one.create; }));
    const double memory = median_of(
        collect(cell.samples, [](const Sample& one) { return static_cast<double>(one.extra_memory); }));
    text += fmt::format("  {:<18}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>8.3f}{:>10.2f}{:>10.1f}{:>9}  {}\n",
                        cell.peer.name, create, cell.median(), *least, *most, rate(cell.median()),
                        cell.median() > 0 ? limit / cell.median() : 0, memory / results.ranks / (1 << 20),
                        cell.file_calls > 0 ? fmt::format("{}", cell.file_calls) : "", bar(cell.median()));
  }
  for (const Cell& cell : row.cells)
    if (cell.untouched > 0)
      text +=
          fmt::format("  NOTE: the file of {} differs in {} bytes that nobody put; the values are right.\n",
                      cell.peer.name, count(cell.untouched));
}

std::string mode_suffix(const Peer& peer) {
  return peer.mode == "strict" ? "" : "." + peer.mode;
}

// Forebay's peers of one mode, in one row.
struct Mode {
  const Cell* fastest = nullptr;
  double whole = 0;
  bool identical = true;
};

std::vector<Mode> modes_of(const RowResult& row) {
  std::vector<Mode> modes;
  for (const Cell& cell : row.cells) {
    if (cell.peer.kind != Kind::Forebay || cell.samples.empty()) continue;
    const auto same = std::find_if(modes.begin(), modes.end(), [&](const Mode& mode) {
      return mode.fastest->peer.mode == cell.peer.mode;
    });
    if (same == modes.end()) {
      modes.push_back({&cell, cell.whole(), !cell.differs});
      continue;
    }
    if (cell.median() < same->fastest->median()) same->fastest = &cell;
    same->whole = std::min(same->whole, cell.whole());
    same->identical = same->identical && !cell.differs;
  }
  return modes;
}

// All peers of all rows, each once.
std::vector<Peer> peers_of(const BenchmarkResults& results) {
  std::vector<Peer> peers;
  for (const RowResult& row : results.rows)
    for (const Cell& cell : row.cells)
      if (std::none_of(peers.begin(), peers.end(),
                       [&](const Peer& one) { return one.name == cell.peer.name; }))
        peers.push_back(cell.peer);
  return peers;
}

}  // namespace

double Cell::median() const {
  return median_of(collect(samples, data_of));
}

double Cell::whole() const {
  return median_of(collect(samples, [](const Sample& one) { return one.create + one.data; }));
}

const Cell* RowResult::fastest_stock() const {
  const Cell* found = nullptr;
  for (const Cell& cell : cells) {
    if (cell.peer.kind != Kind::Stock || cell.samples.empty()) continue;
    if (found == nullptr || cell.median() < found->median()) found = &cell;
  }
  return found;
}

bool BenchmarkResults::all_identical() const {
  for (const RowResult& row : rows)
    for (const Cell& cell : row.cells)
      if (cell.differs) return false;
  return true;
}

std::vector<Ratio> ratios(const BenchmarkResults& results) {
  std::vector<Ratio> all;
  for (const RowResult& row : results.rows) {
    const Cell* stock = row.fastest_stock();
    double whole = std::numeric_limits<double>::infinity();
    for (const Cell& cell : row.cells)
      if (cell.peer.kind == Kind::Stock && !cell.samples.empty()) whole = std::min(whole, cell.whole());
    if (stock == nullptr) continue;
    for (const Mode& mode : modes_of(row)) {
      std::vector<double> paired;
      for (std::size_t i = 0; i < std::min(stock->samples.size(), mode.fastest->samples.size()); ++i)
        paired.push_back(stock->samples[i].data / mode.fastest->samples[i].data);
      all.push_back({row.name + mode_suffix(mode.fastest->peer), stock->peer.name, mode.fastest->peer.name,
                     stock->median() / mode.fastest->median(), whole / mode.whole,
                     lower_bound_of_median(paired), mode.identical});
    }
  }
  return all;
}

std::string table(const BenchmarkResults& results) {
  std::string text = fmt::format("{}, {} ranks, size {}; {}; {}\n{}\n", results.library, results.ranks,
                                 results.size, results.place, results.machine, results.input);
  const std::size_t repetitions =
      results.rows.empty() || results.rows[0].cells.empty() ? 0 : results.rows[0].cells[0].samples.size();
  text += fmt::format(
      "Medians of {0} repetitions, in seconds. create: to the end of {1}; data: from the first {2} to the "
      "end of\n"
      "close, the last rank's; fastest, slowest: of the repetitions; of limit: against plain {3} of as "
      "many bytes,\n"
      "contiguous, by the same ranks; MiB/rank: the peak of resident memory over what was there before, with "
      "what is\n"
      "shared counted for each rank; {3}: Forebay's calls on the file. Peers:\n",
      repetitions, results.reads ? "open" : "the definitions", results.reads ? "get" : "put",
      results.reads ? "reads" : "writes");
  for (const Peer& peer : peers_of(results)) text += fmt::format("  {:<18}{}\n", peer.name, peer.title);
  for (const RowResult& row : results.rows) append(text, results, row);

  text += fmt::format("\n{:<25}{:>8}{:>13}{:>12}{:>13}   {:<18}{:<14}{}\n", "Forebay", "ratio", "lower bound",
                      "confidence", "with create", "fastest stock", "Forebay's", "identical");
  for (const Ratio& one : ratios(results))
    text += fmt::format("{:<25}{:>8}{:>13}{:>11.1f}%{:>13}   {:<18}{:<14}{}\n", one.row, scaled(one.value),
                        scaled(one.bound.value), 100 * one.bound.confidence, scaled(one.whole), one.stock,
                        one.forebay, one.identical ? "yes" : "NO");
  return text +
         "ratio: the fastest stock's median time (data) over that of Forebay's fastest in the mode; lower "
         "bound: of the median of the "
         "ratios\n"
         "repetition by repetition, one-sided, by order statistics (below 5 repetitions the smallest of "
         "them);\n"
         "with create: the ratio of create and data together.\n";
}

std::string closing_lines(const BenchmarkResults& results) {
  const bool compared = std::any_of(results.rows.begin(), results.rows.end(), [](const RowResult& row) {
    return std::count_if(row.cells.begin(), row.cells.end(),
                         [](const Cell& cell) { return !cell.samples.empty(); }) > 1;
  });
  std::string text = fmt::format("identical {}\n", !compared ? "unknown: no two peers wrote a row"
                                                   : results.all_identical() ? "yes"
                                                                             : "no");
  for (const Ratio& one : ratios(results)) text += fmt::format("ratio {} {:.2f}\n", one.row, one.value);
  return text;
}

nlohmann::json to_json(const BenchmarkResults& results) {
  nlohmann::json document = {
      {"library", results.library},      {"ranks", results.ranks},           {"size", results.size},
      {"place", results.place},          {"machine", results.machine},       {"input", results.input},
      {"rows", nlohmann::json::array()}, {"ratios", nlohmann::json::array()}};
  for (const RowResult& row : results.rows) {
    nlohmann::json cells = nlohmann::json::array();
    for (const Cell& cell : row.cells) {
      nlohmann::json samples = nlohmann::json::array();
      for (const Sample& one : cell.samples)
        samples.push_back({{"create_s", one.create},
                           {"data_s", one.data},
                           {"close_s", one.close},
                           {"extra_memory_bytes", one.extra_memory}});
      cells.push_back({{"peer", cell.peer.name},
                       {"title", cell.peer.title},
                       {"median_data_s", cell.median()},
                       {"identical", !cell.differs},
                       {"untouched_bytes_changed", cell.untouched},
                       {"file_calls", cell.file_calls},
                       {"samples", samples}});
    }
    document["rows"].push_back({{"row", row.name},
                                {"title", row.title},
                                {"bytes", row.bytes},
                                {"pieces", row.pieces},
                                {"plain_s", row.plain},
                                {"peers", cells}});
  }
  for (const Ratio& one : ratios(results))
    document["ratios"].push_back({{"row", one.row},
                                  {"ratio", one.value},
                                  {"ratio_with_create", one.whole},
                                  {"fastest_stock", one.stock},
                                  {"fastest_forebay", one.forebay},
                                  {"lower_bound", one.bound.value},
                                  {"confidence", one.bound.confidence},
                                  {"identical", one.identical}});
  return document;
}

}  // namespace forebay::bench
