// Losses, ratios, and their presentation.
#include "checkpoint_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint_peers.hpp"

namespace forebay::bench {
namespace {

// Less than a copy and less than a microsecond nobody loses; the second where a copy was not timed.
double at_least(double seconds, double copy) {
  return std::max({seconds, copy, 1e-6});
}

template <typename Get>
double median(const Cell& cell, Get&& get) {
  std::vector<double> values;
  for (const Sample& one : cell.samples) values.push_back(get(one));
  return median_of(values);
}

double total(const Sample& sample) {
  return sample.data;
}

double computing(const Sample& sample) {
  return sample.data - lost(sample);
}

const Cell* fastest_plain_stock(const RowResult& row) {
  const Cell* found = nullptr;
  for (const Cell& cell : row.cells)
    if (is_plain_stock(cell.peer) && !cell.samples.empty() &&
        (found == nullptr || median(cell, lost) < median(*found, lost)))
      found = &cell;
  return found;
}

// Of all launches of a row: copies are the same whoever writes afterwards.
std::vector<double> of_all(const RowResult& row, double (*get)(const Sample&)) {
  std::vector<double> values;
  for (const Cell& cell : row.cells)
    for (const Sample& one : cell.samples) values.push_back(get(one));
  return values;
}

std::string scaled(double value) {
  return value < 9.95 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

void append(std::string& text, const CheckpointResults& results, const RowResult& row,
            const std::vector<CheckpointRatio>& ratios) {
  const double copy = median_of(of_all(row, copied)), alone = median_of(of_all(row, computing));
  text += fmt::format(
      "\n{}: {}\n  {} checkpoints of {:.1f} MB in {:.1f} thousand pieces; {:.3f} s of computation around "
      "each\n",
      row.name, row.title, results.checkpoints, static_cast<double>(row.bytes) / results.checkpoints / 1e6,
      static_cast<double>(row.pieces) / results.checkpoints / 1e3, alone / (results.checkpoints + 1));
  text += fmt::format("  {:<16}{:>9}{:>9}{:>9}{:>9}{:>10}{:>10}{:>9}   {}\n", "", "lost", "least", "most",
                      "total", "to stock", "bound", "of copy", "identical");
  const std::vector<double> alone_each = of_all(row, computing);
  const auto [quickest, slowest] = std::minmax_element(alone_each.begin(), alone_each.end());
  if (quickest == alone_each.end()) return;
  text +=
      fmt::format("  {:<16}{:>9}{:>9.4f}{:>9.4f}{:>9.4f}\n", "(computing)", "", *quickest, *slowest, alone);
  text += fmt::format("  {:<16}{:>9.4f}\n", "(copy)", copy);
  for (const Cell& cell : row.cells) {
    const auto ratio = std::find_if(ratios.begin(), ratios.end(), [&](const CheckpointRatio& one) {
      return one.row == row.name && one.peer == cell.peer.name;
    });
    if (ratio == ratios.end()) continue;
    double least = lost(cell.samples[0]), most = least;
    for (const Sample& one : cell.samples) {
      least = std::min(least, lost(one));
      most = std::max(most, lost(one));
    }
    text += fmt::format("  {:<16}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>10}{:>10}{:>9}   {}\n", ratio->peer,
                        ratio->lost, least, most, ratio->total,
                        ratio->to_stock > 0 ? (ratio->at_limit ? ">" : "") + scaled(ratio->to_stock) : "",
                        ratio->to_stock > 0 ? scaled(ratio->bound.value) : "", scaled(ratio->to_copy),
                        ratio->identical ? "yes" : "NO");
  }
  const Cell* stock = fastest_plain_stock(row);
  if (stock != nullptr && *slowest - *quickest > median(*stock, lost) / 2)
    text += fmt::format(
        "  NOTE: the computations alone took {:.4f} to {:.4f} s. The machine is too busy for ratios of this "
        "row.\n",
        *quickest, *slowest);
}

}  // namespace

double lost(const Sample& sample) {
  const auto found = sample.measured.find("computing_s");
  return sample.data - (found == sample.measured.end() ? 0 : found->second);
}

double copied(const Sample& sample) {
  const auto found = sample.measured.find("copy_s");
  return found == sample.measured.end() ? 0 : found->second;
}

std::vector<CheckpointRatio> checkpoint_ratios(const CheckpointResults& results) {
  std::vector<CheckpointRatio> all;
  for (const RowResult& row : results.measured.rows) {
    const Cell* stock = fastest_plain_stock(row);
    const double copy = median_of(of_all(row, copied));
    for (const Cell& cell : row.cells) {
      if (cell.samples.empty()) continue;
      CheckpointRatio one{row.name, cell.peer.name, "", median(cell, lost), median(cell, total), copy};
      one.at_limit = one.lost < at_least(one.lost, copy);
      one.to_copy = copy > 0 ? one.lost / copy : 0;
      one.identical = !cell.differs;
      if (stock != nullptr) {
        one.stock = stock->peer.name;
        one.to_stock = at_least(median(*stock, lost), copy) / at_least(one.lost, copy);
        std::vector<double> paired;
        for (std::size_t i = 0; i < std::min(stock->samples.size(), cell.samples.size()); ++i)
          paired.push_back(at_least(lost(stock->samples[i]), copy) / at_least(lost(cell.samples[i]), copy));
        one.bound = lower_bound_of_median(paired);
      }
      all.push_back(one);
    }
  }
  return all;
}

std::string table(const CheckpointResults& results) {
  const BenchmarkResults& measured = results.measured;
  std::size_t repetitions = 0;
  std::vector<Peer> peers;
  for (const RowResult& row : measured.rows)
    for (const Cell& cell : row.cells) {
      repetitions = std::max(repetitions, cell.samples.size());
      if (std::none_of(peers.begin(), peers.end(),
                       [&](const Peer& one) { return one.name == cell.peer.name; }))
        peers.push_back(cell.peer);
    }
  std::string text = fmt::format("{}, {} ranks, size {}; {}; {}\n{}\n", measured.library, measured.ranks,
                                 measured.size, measured.place, measured.machine, measured.input);
  text += fmt::format(
      "Rows ROW.memory: files in memory; ROW.slow: a storage to which all write {:.0f} MB/s together. Logs "
      "and "
      "copies: {}.\n"
      "Medians of {} repetitions, in seconds of the whole program, its last close included. total: its time; "
      "lost: all of it but\n"
      "what the same computations took alone, in the same launch; least, most: of the repetitions; to stock: "
      "the fastest plain\n"
      "stock's loss over this one; bound: its one-sided lower bound, repetition by repetition; copy: each "
      "rank "
      "appends its bytes\n"
      "to a plain file beside the log; of copy: the loss over that. \">\": less than a copy was lost, so the "
      "copy's time counts.\nPeers:\n",
      results.megabytes_per_second, results.log, repetitions);
  for (const Peer& peer : peers) text += fmt::format("  {:<16}{}\n", peer.name, peer.title);
  const std::vector<CheckpointRatio> ratios = checkpoint_ratios(results);
  for (const RowResult& row : measured.rows) append(text, results, row, ratios);
  return text;
}

std::string closing_lines(const CheckpointResults& results) {
  std::string text = fmt::format("identical {}\n", results.measured.all_identical() ? "yes" : "no");
  for (const CheckpointRatio& one : checkpoint_ratios(results)) {
    if (one.to_stock <= 0 || one.peer == one.stock) continue;
    text += fmt::format("ratio {}{} {:.2f}\n", one.row, one.peer == "forebay" ? "" : "." + one.peer,
                        one.to_stock);
  }
  return text;
}

nlohmann::json to_json(const CheckpointResults& results) {
  const BenchmarkResults& measured = results.measured;
  nlohmann::json document = {{"library", measured.library},
                             {"ranks", measured.ranks},
                             {"size", measured.size},
                             {"place", measured.place},
                             {"log", results.log},
                             {"machine", measured.machine},
                             {"input", measured.input},
                             {"checkpoints", results.checkpoints},
                             {"slow_bytes_per_second", results.megabytes_per_second * 1e6},
                             {"rows", nlohmann::json::array()},
                             {"ratios", nlohmann::json::array()}};
  for (const RowResult& row : measured.rows) {
    nlohmann::json cells = nlohmann::json::array();
    for (const Cell& cell : row.cells) {
      nlohmann::json samples = nlohmann::json::array();
      for (const Sample& one : cell.samples)
        samples.push_back({{"total_s", total(one)},
                           {"computing_s", computing(one)},
                           {"lost_s", lost(one)},
                           {"copy_s", copied(one)},
                           {"close_s", one.close}});
      cells.push_back({{"peer", cell.peer.name},
                       {"title", cell.peer.title},
                       {"identical", !cell.differs},
                       {"file_calls", cell.file_calls},
                       {"samples", samples}});
    }
    const auto asked = results.compute.find(row.name);
    document["rows"].push_back({{"row", row.name},
                                {"title", row.title},
                                {"bytes", row.bytes},
                                {"pieces", row.pieces},
                                {"compute_s", asked == results.compute.end() ? 0 : asked->second},
                                {"peers", cells}});
  }
  for (const CheckpointRatio& one : checkpoint_ratios(results))
    document["ratios"].push_back({{"row", one.row},
                                  {"peer", one.peer},
                                  {"stock", one.stock},
                                  {"lost_s", one.lost},
                                  {"total_s", one.total},
                                  {"copy_s", one.copy},
                                  {"to_stock", one.to_stock},
                                  {"lower_bound", one.bound.value},
                                  {"confidence", one.bound.confidence},
                                  {"to_copy", one.to_copy},
                                  {"at_limit", one.at_limit},
                                  {"identical", one.identical}});
  return document;
}

std::string to_svg(const CheckpointResults& results) {
  BenchmarkResults losses = results.measured;
  for (RowResult& row : losses.rows) {
    row.plain = of_all(row, copied);
    for (Cell& cell : row.cells)
      for (Sample& one : cell.samples) one.data = at_least(lost(one), 0);
  }
  return to_svg(losses);
}

}  // namespace forebay::bench
