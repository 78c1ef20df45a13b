// The benchmarks' medians, with the parts of the time, what the path alone takes, and what became of the
// pieces.
#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace forebay::bench {
namespace {

const Cell* find(const RowResult& row, const std::string& peer) {
  for (const Cell& cell : row.cells)
    if (cell.peer.name == peer) return &cell;
  return nullptr;
}

// Of the peers whose files count.
const Cell* forebay_of(const RowResult& row) {
  return find(row, "forebay");
}

double ratio(const Cell* a, const Cell* b) {
  return a == nullptr || b == nullptr ? std::numeric_limits<double>::infinity() : a->median() / b->median();
}

std::vector<std::string> libraries(const BenchmarkResults& results) {
  std::vector<std::string> found;
  for (const RowResult& row : results.rows)
    if (found.empty() || found.back() != library_of(row.name)) found.push_back(library_of(row.name));
  return found;
}

// The limit: as many bytes, written plainly.
std::vector<double> plain(const BenchmarkResults& results) {
  std::vector<double> all;
  for (const RowResult& row : results.rows) all.insert(all.end(), row.plain.begin(), row.plain.end());
  return all;
}

// Bytes a second, in 1e9.
double rate(std::int64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

template <typename Get>
std::string median_column(const Cell& cell, Get&& get) {
  std::vector<double> values;
  for (const Sample& sample : cell.samples) values.push_back(get(sample));
  return fmt::format("{:>9.4f}", median_of(std::move(values)));
}

std::string line(const RowResult& row, const Cell& cell, double limit) {
  std::string text = fmt::format("  {:<24}", cell.peer.title);
  text += median_column(cell, [](const Sample& one) { return one.create; });
  text += median_column(cell, [](const Sample& one) { return one.data - one.close; });
  text += median_column(cell, [](const Sample& one) { return one.close; });
  text += fmt::format("{:>9.4f}{:>9.3f}{:>9.3f}", cell.median(), rate(row.bytes, cell.median()),
                      cell.median() > 0 ? limit / cell.median() : 0);
  if (cell.more) text += fmt::format("{:>14.1f}", *cell.more / (1 << 20));
  return text + "\n";
}

std::int64_t number(const nlohmann::json& report, const char* pointer) {
  return report.value(nlohmann::json::json_pointer(pointer), std::int64_t{0});
}

// What became of the pieces, as Forebay's report tells it.
std::string coalescing(const nlohmann::json& report) {
  if (!report.is_object() || !report.contains("after_node_coalescing")) return "";
  std::string text = fmt::format("  {} pieces came out of {} node{} as {} runs", number(report, "/pieces"),
                                 number(report, "/nodes"), number(report, "/nodes") == 1 ? "" : "s",
                                 number(report, "/after_node_coalescing/runs"));
  if (number(report, "/nodes") > 1)
    text += fmt::format("; between nodes {} messages, {} of them puts, {:.1f} MB",
                        number(report, "/between_nodes/messages"),
                        number(report, "/between_nodes/one_sided_puts"),
                        static_cast<double>(number(report, "/between_nodes/bytes")) / 1e6);
  return text + fmt::format("; {} writes to the file\n", number(report, "/file_writes/count"));
}

// The slowest repeat over the fastest.
double spread(const Cell& cell) {
  const auto by_data = [](const Sample& a, const Sample& b) { return a.data < b.data; };
  const auto [least, most] = std::minmax_element(cell.samples.begin(), cell.samples.end(), by_data);
  return cell.samples.empty() || least->data <= 0 ? 1 : most->data / least->data;
}

// What to say of a ratio of medians that lies within the spread of their repeats.
std::string doubt(const Cell& a, const Cell& b) {
  const double value = ratio(&a, &b), most = std::max(spread(a), spread(b));
  if (most <= std::max(value, 1 / value)) return "";
  return fmt::format(" (within the scatter: repeats differ by {:.1f} times)", most);
}

}  // namespace

std::string library_of(const std::string& row) {
  return row.starts_with("hdf5") ? "hdf5" : row;
}

double DemoResults::speedup(const std::string& library) const {
  double lowest = std::numeric_limits<double>::infinity();
  for (const RowResult& row : measured.rows)
    if (library_of(row.name) == library)
      lowest = std::min(lowest, ratio(row.fastest_stock(), forebay_of(row)));
  return lowest;
}

bool DemoResults::identical(const std::string& library) const {
  BenchmarkResults its = measured;
  std::erase_if(its.rows, [&](const RowResult& row) { return library_of(row.name) != library; });
  return its.all_identical();
}

std::string table(const DemoResults& results) {
  const BenchmarkResults& measured = results.measured;
  if (measured.rows.empty()) return "";
  const RowResult& first = measured.rows.front();
  const std::size_t repeats = first.cells.empty() ? 0 : first.cells.front().samples.size();
  const double limit = median_of(plain(measured));
  std::string text = fmt::format(
      "{}\n{} ranks, {} record{}, {:.1f} MB in {} pieces of {:.1f} bytes on average; {}; {}\n", results.title,
      measured.ranks, results.records, results.records == 1 ? "" : "s",
      static_cast<double>(first.bytes) / 1e6, first.pieces,
      static_cast<double>(first.bytes) / static_cast<double>(std::max<std::int64_t>(first.pieces, 1)),
      measured.place, measured.machine);
  text += fmt::format("Medians of {} run{}, in seconds; total: from the first put to the end of close.\n\n",
                      repeats, repeats == 1 ? "" : "s");
  text += fmt::format("  {:<24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>14}\n", "", "create", "write", "close",
                      "total", "GB/s", "of limit", "MiB/rank more");
  text += fmt::format("  {:<24}{:>9}{:>9}{:>9}{:>9.4f}{:>9.3f}{:>9.3f}\n", "limit: plain writes", "", "", "",
                      limit, rate(first.bytes, limit), 1.0);
  for (const RowResult& row : measured.rows) {
    text += row.title + "\n";
    for (const Cell& cell : row.cells) text += line(row, cell, limit);
    const Cell *own = forebay_of(row), *stock = row.fastest_stock();
    if (own == nullptr || stock == nullptr) continue;
    text +=
        fmt::format("  {:.1f} times as fast as the fastest stock{}", ratio(stock, own), doubt(*stock, *own));
    if (const Cell* null = find(row, "forebay-null")) {
      const double path = ratio(own, null);
      const std::string scatter = doubt(*own, *null);
      text += fmt::format("; {:.2f} times what the path alone takes{}", path,
                          path < 1 && scatter.empty() ? " (impossible: the runs scatter)" : scatter);
    }
    text += "\n" + coalescing(own->report);
  }
  for (const RowResult& row : measured.rows)
    for (const Cell& cell : row.cells)
      if (cell.peer.compared && spread(cell) > 2)
        text += fmt::format("NOTE: the repeats of {}, {} differ by {:.1f} times: the machine was not idle.\n",
                            row.name, cell.peer.title, spread(cell));
  return text;
}

std::string closing_lines(const DemoResults& results) {
  std::string text;
  for (const std::string& library : libraries(results.measured))
    text += fmt::format("{} identical {} speedup {:.1f}\n", library,
                        results.identical(library) ? "yes" : "no", results.speedup(library));
  return text;
}

nlohmann::json to_json(const DemoResults& results) {
  const BenchmarkResults& measured = results.measured;
  const std::vector<double> limit = plain(measured);
  nlohmann::json document = {{"title", results.title},      {"place", measured.place},
                             {"machine", measured.machine}, {"ranks", measured.ranks},
                             {"records", results.records},  {"ways", nlohmann::json::array()}};
  for (const RowResult& row : measured.rows) {
    document["bytes"] = row.bytes;
    document["pieces"] = row.pieces;
    document["limit"] = {{"total_s", limit},
                         {"median_total_s", median_of(limit)},
                         {"gb_per_s", rate(row.bytes, median_of(limit))}};
    for (const Cell& cell : row.cells) {
      nlohmann::json runs = nlohmann::json::array();
      for (const Sample& run : cell.samples)
        runs.push_back({{"create_s", run.create},
                        {"write_s", run.data - run.close},
                        {"close_s", run.close},
                        {"total_s", run.data}});
      nlohmann::json one = {{"library", library_of(row.name)}, {"api", row.name},
                            {"stack", cell.peer.name},         {"runs", runs},
                            {"median_total_s", cell.median()}, {"gb_per_s", rate(row.bytes, cell.median())}};
      if (cell.more) one["extra_memory_bytes_per_rank"] = *cell.more;
      if (!cell.report.is_null()) one["report"] = cell.report;
      document["ways"].push_back(std::move(one));
    }
  }
  for (const std::string& library : libraries(measured))
    document["results"][library] = {{"identical", results.identical(library)},
                                    {"speedup", results.speedup(library)}};
  return document;
}

}  // namespace forebay::bench
