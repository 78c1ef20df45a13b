// The order of the keys is the order in which people read them.
#include "report/report_json.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "base/hints.hpp"
#include "base/printable.hpp"

namespace forebay {
namespace {

using Pointer = Json::json_pointer;

struct Average {
  const char* place;
  const char* sum;
  const char* count;
};
constexpr Average averages[] = {
    {"/average_piece_bytes", "/bytes", "/pieces"},
    {"/after_node_coalescing/average_run_bytes", "/after_node_coalescing/bytes",
     "/after_node_coalescing/runs"},
    {"/file_writes/average_bytes", "/file_writes/bytes", "/file_writes/count"},
    {"/gets/average_piece_bytes", "/gets/bytes", "/gets/pieces"},
};

// By Stage.
constexpr std::array stages{"walk",  "pool", "scatter", "node_wait", "exchange",
                            "write", "read", "pick",    "agree"};
static_assert(stages.size() == stage_count);

std::int64_t number(const Json& json, const char* place) {
  return json.at(Pointer(place)).get<std::int64_t>();
}

Json sizes_of(const Counters& c) {
  Json sizes = Json::array();
  for (std::size_t i = 0; i < c.write_sizes.size(); ++i) {
    if (c.write_sizes[i] == 0) continue;
    const std::int64_t from = std::int64_t{1} << i;
    sizes.push_back({{"from", from}, {"below", 2 * from}, {"count", c.write_sizes[i]}});
  }
  return sizes;
}

Json causes_of(const Counters& c) {
  Json causes = Json::array();
  for (std::size_t i = 0; i < c.broken_causes.size(); ++i) {
    if (c.broken_causes[i] == 0) continue;
    causes.push_back(
        {{"flag", std::int64_t{1} << i}, {"cause", name_of_cause(i)}, {"writes", c.broken_causes[i]}});
  }
  return causes;
}

Json by_rank_of(const FileReport& report) {
  // Microseconds are enough, and short.
  const auto rounded = [](double seconds) { return std::round(seconds * 1e6) / 1e6; };
  Json all = Json::array(), file = Json::array();
  for (const RankSeconds& seconds : report.by_rank) {
    all.push_back(rounded(seconds.all));
    file.push_back(rounded(seconds.file));
  }
  return {{"ranks_a_group", report.ranks_a_group}, {"all", std::move(all)}, {"file", std::move(file)}};
}

void read_by_rank(const Json& json, FileReport& report) {
  report.ranks_a_group = json.at("ranks_a_group");
  const Json& all = json.at("all");
  for (std::size_t i = 0; i < all.size(); ++i) report.by_rank.push_back({all[i], json.at("file").at(i)});
}

Json strings(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(as_utf8(text));
  return list;
}

}  // namespace

Json to_json(const FileReport& report) {
  const FileFacts& facts = report.facts;
  Settings settings = facts.settings;
  settings.stats.clear();  // the reader knows where the report is
  settings.trace.clear();
  Json json{
      {"path", as_utf8(facts.path)},
      {"driver", facts.driver},
      {"active", report.stock_opens < report.opens},
      {"program", as_utf8(report.program)},
      {"host", as_utf8(report.host)},
      {"date", report.date},
      {"opens", report.opens},
      {"ranks", report.ranks},
      {"nodes", report.nodes},
      {"ranks_per_node", {{"min", report.least_ranks_per_node}, {"max", report.most_ranks_per_node}}},
      {"thread_level", facts.thread_level},
      {"settings", as_utf8(format_hints(settings))},
      {"storage", facts.storage},
      {"file_system", facts.file_system},
      {"fills_holes", facts.fills_holes},
      {"link", facts.link},
      {"link_bytes_per_second", facts.link_rate},
      {"node",
       {{"domains", facts.node.domains},
        {"cards", facts.node.cards},
        {"aggregators", facts.node.aggregators},
        {"aggregators_by", facts.node.aggregators_by}}},
      {"stripe_bytes", facts.stripe_bytes},
      {"stripe_source", facts.stripe_source},
      {"storage_targets", facts.storage_targets},
      {"window_bytes", facts.window_bytes},
      {"owner_nodes", facts.owner_nodes},
  };
  for (const CounterField& field : counter_fields()) json[Pointer(field.place)] = report.total.*field.value;
  for (const Average& average : averages) {
    const std::int64_t count = number(json, average.count);
    json[Pointer(average.place)] = count > 0 ? number(json, average.sum) / count : 0;
  }
  json["file_writes"]["unaligned"] = report.total.writes - report.total.aligned_writes;
  json["file_writes"]["sizes"] = sizes_of(report.total);
  json["stock"]["opens"] = report.stock_opens;
  json["stock"]["reasons"] = strings(report.stock_reasons);
  json["broken_collectives"]["causes"] = causes_of(report.total);
  Json& seconds = json["seconds"] = Json::object();
  for (std::size_t i = 0; i < stage_count; ++i) {
    seconds[stages[i]] = {{"max", report.seconds[i].max}, {"mean", report.seconds[i].mean}};
  }
  json["seconds_by_rank"] = by_rank_of(report);
  json["memory"]["peak_sum_bytes"] = report.peak_sum_bytes;
  json["memory"]["peak_max_bytes"] = report.peak_max_bytes;
  json["aggregators"] = report.aggregators;
  json["notes"] = strings(report.notes);
  return json;
}

FileReport from_json(const Json& json) {
  FileReport report;
  FileFacts& facts = report.facts;
  facts.path = json.at("path");
  facts.driver = json.at("driver");
  // Made by this version or by another one, whose hints may have other names: then as far as they are known.
  (void)parse_hints(facts.settings, json.at("settings").get<std::string>(), Origin::info);
  facts.stripe_bytes = json.at("stripe_bytes");
  facts.stripe_source = json.value("stripe_source", "");
  facts.owner_nodes = json.value("owner_nodes", "");
  facts.storage_targets = json.value("storage_targets", std::int64_t{0});
  facts.window_bytes = json.at("window_bytes");
  facts.link = json.at("link");
  facts.link_rate = json.value("link_bytes_per_second", std::int64_t{0});
  if (json.contains("node")) {
    const Json& node = json["node"];
    facts.node = {number(node, "/domains"), number(node, "/cards"), number(node, "/aggregators"),
                  node.at("aggregators_by")};
  }
  facts.storage = json.at("storage");
  facts.file_system = json.at("file_system");
  facts.fills_holes = json.at("fills_holes");
  facts.thread_level = json.at("thread_level");
  report.program = json.at("program");
  report.host = json.at("host");
  report.date = json.at("date");
  report.opens = json.at("opens");
  report.stock_opens = number(json, "/stock/opens");
  report.stock_reasons = json.at(Pointer("/stock/reasons")).get<std::vector<std::string>>();
  report.ranks = json.at("ranks");
  report.nodes = json.at("nodes");
  report.least_ranks_per_node = number(json, "/ranks_per_node/min");
  report.most_ranks_per_node = number(json, "/ranks_per_node/max");
  report.aggregators = json.at("aggregators").get<std::vector<std::int64_t>>();
  Counters& c = report.total;
  // Earlier versions knew no log.
  const bool has_log = json.contains("log");
  for (const CounterField& field : counter_fields()) {
    if (has_log || !std::string_view(field.place).starts_with("/log/"))
      c.*field.value = number(json, field.place);
  }
  const auto bit = [](const Json& power) {
    return static_cast<std::size_t>(std::bit_width(power.get<std::uint64_t>()) - 1);
  };
  for (const Json& size : json.at(Pointer("/file_writes/sizes")))
    c.write_sizes.at(bit(size.at("from"))) = size.at("count");
  for (const Json& cause : json.at(Pointer("/broken_collectives/causes")))
    c.broken_causes.at(bit(cause.at("flag"))) = cause.at("writes");
  for (std::size_t i = 0; i < stage_count; ++i) {
    const Json& stage = json.at("seconds").at(stages[i]);
    report.seconds[i] = {stage.at("max"), stage.at("mean")};
  }
  if (json.contains("seconds_by_rank")) read_by_rank(json["seconds_by_rank"], report);
  report.peak_sum_bytes = number(json, "/memory/peak_sum_bytes");
  report.peak_max_bytes = number(json, "/memory/peak_max_bytes");
  report.notes = json.at("notes").get<std::vector<std::string>>();
  return report;
}

Json totals_of(const FileReport& report, bool first_open) {
  const Counters& c = report.total;
  return {{"files", first_open ? 1 : 0},
          {"opens", report.opens},
          {"stock_opens", report.stock_opens},
          {"requests", c.requests},
          {"pieces", c.pieces},
          {"bytes", c.bytes},
          {"library_bytes", c.metadata_bytes + c.fill_bytes},
          {"stock_bytes", c.stock_put_bytes},
          {"file_writes", c.writes},
          {"file_write_bytes", c.written_bytes},
          {"got_bytes", c.get_bytes + c.stock_get_bytes},
          {"file_reads", c.reads},
          {"file_read_bytes", c.read_bytes},
          {"windows_bytes", c.window_bytes}};
}

void add_totals(Json& totals, const Json& more) {
  for (const auto& [key, value] : more.items()) {
    const std::int64_t before = totals.value(key, std::int64_t{0});
    const std::int64_t now = value.get<std::int64_t>();
    totals[key] = key == "windows_bytes" ? std::max(before, now) : before + now;
  }
}

std::string text_of(const Json& json) {
  std::string text;
  for (const std::string dumped = json.dump(2, ' ', false, Json::error_handler_t::replace);
       const char c : dumped) {
    const auto byte = static_cast<unsigned char>(c);
    // DEL, and the C1 controls behind their lead byte; they can only be within strings.
    if (byte == 0x7f) {
      text += "\\u007f";
    } else if (byte >= 0x80 && byte < 0xa0 && !text.empty() &&
               static_cast<unsigned char>(text.back()) == 0xc2) {
      constexpr char digits[] = "0123456789abcdef";
      text.pop_back();
      text += "\\u00";
      text += digits[byte >> 4];
      text += digits[byte & 15];
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace forebay
