// Medians, ratios, and their presentation.
#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "statistics.hpp"

namespace forebay::bench {
namespace {

template <typename Get>
double median_by(const std::vector<Timing>& runs, Get&& get) {
  std::vector<double> values;
  for (const Timing& run : runs) values.push_back(get(run));
  return median_of(std::move(values));
}

double best_stock(const Results& results, const std::string& api) {
  double best = std::numeric_limits<double>::infinity();
  for (const Stack stack : {Stack::Romio, Stack::Ompio})
    if (const WayResult* way = results.find(api, stack)) best = std::min(best, median_total(way->runs));
  return best;
}

// Bytes a second, in 1e9, of the data written, from the first put to the end of close.
double rate(const Results& results, const std::vector<Timing>& runs) {
  const double seconds = median_total(runs);
  return seconds > 0 ? static_cast<double>(results.bytes) / seconds / 1e9 : 0;
}

std::string row(const Results& results, const std::string& name, const std::vector<Timing>& runs,
                std::optional<double> extra_memory) {
  const Timing typical = median(runs);
  const double limit = rate(results, results.limit), own = rate(results, runs);
  std::string line =
      fmt::format("  {:<24}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.3f}{:>9.3f}", name, typical.create,
                  typical.write, typical.close, median_total(runs), own, limit > 0 ? own / limit : 0);
  if (extra_memory) line += fmt::format("{:>14.1f}", *extra_memory / (1 << 20));
  return line + "\n";
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
double spread(const std::vector<Timing>& runs) {
  const auto by_total = [](const Timing& a, const Timing& b) { return a.total() < b.total(); };
  const auto [least, most] = std::minmax_element(runs.begin(), runs.end(), by_total);
  return runs.empty() || least->total() <= 0 ? 1 : most->total() / least->total();
}

std::vector<Form> forms(const Results& results) {
  std::vector<Form> found;
  for (const WayResult& way : results.ways)
    if (std::none_of(found.begin(), found.end(), [&](const Form& form) { return form.api == way.form.api; }))
      found.push_back(way.form);
  return found;
}

}  // namespace

std::string stack_id(Stack stack) {
  switch (stack) {
    case Stack::Romio:
      return "romio";
    case Stack::Ompio:
      return "ompio";
    case Stack::Forebay:
      return "forebay";
    case Stack::ForebayNull:
      return "forebay-null";
  }
  return "";
}

std::string stack_title(Stack stack) {
  switch (stack) {
    case Stack::Romio:
      return "stock, ROMIO";
    case Stack::Ompio:
      return "stock, OMPIO";
    case Stack::Forebay:
      return "forebay";
    case Stack::ForebayNull:
      return "forebay, storage null";
  }
  return "";
}

const WayResult* Results::find(const std::string& api, Stack stack) const {
  for (const WayResult& way : ways)
    if (way.form.api == api && way.stack == stack) return &way;
  return nullptr;
}

double Results::speedup(const std::string& library) const {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Form& form : forms(*this)) {
    const WayResult* own = find(form.api, Stack::Forebay);
    if (form.library == library && own != nullptr)
      lowest = std::min(lowest, best_stock(*this, form.api) / median_total(own->runs));
  }
  return lowest;
}

bool Results::all_identical() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& one) { return one.identical; });
}

Timing median(const std::vector<Timing>& runs) {
  return {median_by(runs, [](const Timing& run) { return run.create; }),
          median_by(runs, [](const Timing& run) { return run.write; }),
          median_by(runs, [](const Timing& run) { return run.close; })};
}

double median_total(const std::vector<Timing>& runs) {
  return median_by(runs, [](const Timing& run) { return run.total(); });
}

std::string table(const Results& results) {
  std::string text = fmt::format(
      "{}\n{} ranks, {} record{}, {:.1f} MB in {} pieces of {:.1f} bytes on average; {}; {}\n", results.title,
      results.ranks, results.records, results.records == 1 ? "" : "s",
      static_cast<double>(results.bytes) / 1e6, results.pieces,
      static_cast<double>(results.bytes) / static_cast<double>(std::max<std::int64_t>(results.pieces, 1)),
      results.place, results.machine);
  text += fmt::format("Medians of {} run{}, in seconds; total: from the first put to the end of close.\n\n",
                      results.limit.size(), results.limit.size() == 1 ? "" : "s");
  text += fmt::format("  {:<24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>14}\n", "", "create", "write", "close",
                      "total", "GB/s", "of limit", "MiB/rank more");
  text += row(results, "limit: plain writes", results.limit, std::nullopt);
  for (const Form& form : forms(results)) {
    text += form.title + "\n";
    for (const WayResult& way : results.ways)
      if (way.form.api == form.api) text += row(results, stack_title(way.stack), way.runs, way.extra_memory);
    const WayResult* own = results.find(form.api, Stack::Forebay);
    if (own == nullptr) continue;
    text += fmt::format("  {:.1f} times as fast as the fastest stock",
                        best_stock(results, form.api) / median_total(own->runs));
    if (const WayResult* null = results.find(form.api, Stack::ForebayNull))
      text += fmt::format("; {:.2f} times what the path alone takes",
                          median_total(own->runs) / median_total(null->runs));
    text += "\n" + coalescing(own->report);
  }
  for (const WayResult& way : results.ways) {
    const double ratio = spread(way.runs);
    if (way.stack != Stack::ForebayNull && ratio > 2)
      text += fmt::format("NOTE: the repeats of {}, {} differ by {:.1f} times: the machine was not idle.\n",
                          way.form.api, stack_title(way.stack), ratio);
  }
  return text;
}

std::string closing_lines(const Results& results) {
  std::string text;
  for (const Results::Verdict& one : results.verdicts)
    text += fmt::format("{} identical {} speedup {:.1f}\n", one.library, one.identical ? "yes" : "no",
                        results.speedup(one.library));
  return text;
}

nlohmann::json to_json(const Results& results) {
  const auto timings = [](const std::vector<Timing>& runs) {
    nlohmann::json list = nlohmann::json::array();
    for (const Timing& run : runs)
      list.push_back({{"create_s", run.create},
                      {"write_s", run.write},
                      {"close_s", run.close},
                      {"total_s", run.total()}});
    return list;
  };
  nlohmann::json document = {{"title", results.title},     {"place", results.place},
                             {"machine", results.machine}, {"ranks", results.ranks},
                             {"records", results.records}, {"bytes", results.bytes},
                             {"pieces", results.pieces},   {"ways", nlohmann::json::array()}};
  document["limit"] = {{"runs", timings(results.limit)},
                       {"median_total_s", median_total(results.limit)},
                       {"gb_per_s", rate(results, results.limit)}};
  for (const WayResult& way : results.ways) {
    nlohmann::json one = {{"library", way.form.library},
                          {"api", way.form.api},
                          {"stack", stack_id(way.stack)},
                          {"runs", timings(way.runs)},
                          {"median_total_s", median_total(way.runs)},
                          {"gb_per_s", rate(results, way.runs)}};
    if (way.extra_memory) one["extra_memory_bytes_per_rank"] = *way.extra_memory;
    if (!way.report.is_null()) one["report"] = way.report;
    document["ways"].push_back(std::move(one));
  }
  for (const Results::Verdict& one : results.verdicts)
    document["results"][one.library] = {{"identical", one.identical},
                                        {"speedup", results.speedup(one.library)}};
  return document;
}

}  // namespace forebay::bench
