// forebay report --csv. Columns are named by their place in the JSON, with dots.
#include <array>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "report/report.hpp"
#include "report_formats.hpp"

namespace forebay::tools {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

/// Columns are for readers to find by name; a new counter is a new one.
std::vector<std::string> places() {
  std::vector<std::string> list{"/path",
                                "/driver",
                                "/active",
                                "/program",
                                "/host",
                                "/date",
                                "/opens",
                                "/ranks",
                                "/nodes",
                                "/ranks_per_node/min",
                                "/ranks_per_node/max",
                                "/thread_level",
                                "/settings",
                                "/storage",
                                "/file_system",
                                "/fills_holes",
                                "/link",
                                "/link_bytes_per_second",
                                "/node/domains",
                                "/node/cards",
                                "/node/aggregators",
                                "/node/aggregators_by",
                                "/stripe_bytes",
                                "/stripe_source",
                                "/storage_targets",
                                "/window_bytes",
                                "/owner_nodes"};
  for (const CounterField& field : counter_fields()) list.emplace_back(field.place);
  for (const char* place :
       {"/average_piece_bytes", "/after_node_coalescing/average_run_bytes", "/file_writes/average_bytes",
        "/gets/average_piece_bytes", "/file_writes/unaligned", "/stock/opens", "/stock/reasons"})
    list.emplace_back(place);
  for (const char* stage :
       {"walk", "pool", "scatter", "node_wait", "exchange", "write", "read", "pick", "agree"}) {
    list.push_back(std::string("/seconds/") + stage + "/max");
    list.push_back(std::string("/seconds/") + stage + "/mean");
  }
  for (const char* place : {"/memory/peak_sum_bytes", "/memory/peak_max_bytes", "/aggregators", "/notes"})
    list.emplace_back(place);
  return list;
}

constexpr int size_classes = 40;

std::string enclosed(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

/// A table program must not take a name for a formula.
std::string cell_of(const std::string& text) {
  bool formula = false;
  // The wide ones are the same to some.
  for (const std::string_view sign :
       {"=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"})
    formula = formula || text.starts_with(sign);
  return enclosed((formula ? "'" : "") + printable(text));
}

std::string cell(const json& value) {
  if (value.is_string()) return cell_of(value.get<std::string>());
  if (value.is_object()) return cell_of(value.dump());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const json& part : value) {
    if (!text.empty()) text += part.is_string() ? " | " : " ";
    text += part.is_string() ? part.get<std::string>() : part.dump();
  }
  return cell_of(text);
}

}  // namespace

std::string as_csv(const json& document) {
  const std::vector<std::string> columns = places();
  std::string text;
  for (const std::string& place : columns) {
    if (!text.empty()) text += ',';
    for (std::size_t i = 1; i < place.size(); ++i) text += place[i] == '/' ? '.' : place[i];
  }
  for (int i = 0; i < size_classes; ++i) text += ",file_writes.sizes." + std::to_string(std::int64_t{1} << i);
  text += "\r\n";
  for (const json& file : document.at("files")) {
    std::string row = cell(file.at("path"));
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const Pointer place(columns[i]);
      // Reports of other versions may lack some.
      row += ',' + (file.contains(place) ? cell(file.at(place)) : std::string());
    }
    std::array<std::int64_t, size_classes> sizes{};
    for (const json& size : file.at("file_writes").at("sizes")) {
      for (int i = 0; i < size_classes; ++i) {
        if (size.at("from") == std::int64_t{1} << i)
          sizes[static_cast<std::size_t>(i)] = size.at("count").get<std::int64_t>();
      }
    }
    for (const std::int64_t count : sizes) row += ',' + std::to_string(count);
    text += row + "\r\n";
  }
  return text;
}

}  // namespace forebay::tools
