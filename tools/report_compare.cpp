// forebay report --compare: what changed from one report to another.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "human.hpp"
#include "report_formats.hpp"

namespace forebay::tools {
namespace {

using nlohmann::json;
using Files = std::vector<const json*>;

std::string text(const json& file, const char* key) {
  return file.at(key).get<std::string>();
}
std::string name_of(const json& file) {
  const std::string path = text(file, "path");
  return path.substr(path.rfind('/') + 1);
}

struct Pairs {
  std::vector<std::pair<const json*, const json*>> both;
  Files only_a, only_b;
};

/// Pairs what has the same key, where one file of each side has it.
template <class Key>
void pair_by(Key key, Pairs& pairs) {
  std::map<std::string, std::pair<Files, Files>> by_key;
  for (const json* file : pairs.only_a) by_key[key(*file)].first.push_back(file);
  for (const json* file : pairs.only_b) by_key[key(*file)].second.push_back(file);
  const auto is_paired = [&](const json* file) {
    const auto& [a, b] = by_key[key(*file)];
    return a.size() == 1 && b.size() == 1;
  };
  for (const json* file : pairs.only_a) {
    if (is_paired(file)) pairs.both.emplace_back(file, by_key[key(*file)].second.front());
  }
  std::erase_if(pairs.only_a, is_paired);
  std::erase_if(pairs.only_b, is_paired);
}

Pairs pair_up(const json& a, const json& b) {
  Pairs pairs;
  for (const json& file : a.at("files")) pairs.only_a.push_back(&file);
  for (const json& file : b.at("files")) pairs.only_b.push_back(&file);
  pair_by([](const json& file) { return text(file, "path") + '\0' + text(file, "driver"); }, pairs);
  pair_by([](const json& file) { return name_of(file) + '\0' + text(file, "driver"); }, pairs);
  pair_by([](const json& file) { return name_of(file); }, pairs);
  return pairs;
}

void row(const std::string& label, const std::string& a, const std::string& b, double of_a, double of_b) {
  const std::string ratio = of_a > 0 ? fmt::format("{:.2f}", of_b / of_a) : of_b > 0 ? "-" : "";
  fmt::print("  {:<22}{:>14}{:>14}{:>10}\n", label, a, b, ratio);
}

void count_row(const std::string& label, const json& a, const json& b, const char* place,
               bool bytes = false) {
  const json::json_pointer pointer(place);
  const auto of_a = a.at(pointer).get<std::int64_t>(), of_b = b.at(pointer).get<std::int64_t>();
  if (of_a == 0 && of_b == 0) return;
  const auto shown = [&](std::int64_t value) { return bytes ? human_bytes(value) : human_count(value); };
  row(label, shown(of_a), shown(of_b), static_cast<double>(of_a), static_cast<double>(of_b));
}

void seconds_row(const std::string& label, double a, double b) {
  if (a < 0.0005 && b < 0.0005) return;
  row(label, fmt::format("{:.3f} s", a), fmt::format("{:.3f} s", b), a, b);
}

void word_row(const std::string& label, const std::string& a, const std::string& b) {
  if (a != b) fmt::print("  {:<22}{:>14}{:>14}\n", label, printable(a), printable(b));
}

void compare(const json& a, const json& b) {
  fmt::print("\n{}\n", printable(text(a, "path")));
  if (text(a, "path") != text(b, "path")) fmt::print("  with {}\n", printable(text(b, "path")));
  fmt::print("  {:<22}{:>14}{:>14}{:>10}\n", "", "A", "B", "B / A");
  word_row("driver", text(a, "driver"), text(b, "driver"));
  const auto served = [](const json& file) { return file.at("active").get<bool>() ? "Forebay" : "stock"; };
  word_row("served by", served(a), served(b));
  for (const auto& [label, place] : {std::pair{"opens", "/opens"}, {"ranks", "/ranks"}, {"nodes", "/nodes"}})
    if (a.at(json::json_pointer(place)) != b.at(json::json_pointer(place))) count_row(label, a, b, place);
  count_row("requests put", a, b, "/requests");
  count_row("pieces put", a, b, "/pieces");
  count_row("bytes put", a, b, "/bytes", true);
  count_row("  by stock driver", a, b, "/stock/put_bytes", true);
  count_row("file writes", a, b, "/file_writes/count");
  count_row("  bytes", a, b, "/file_writes/bytes", true);
  count_row("  average", a, b, "/file_writes/average_bytes", true);
  count_row("  aligned", a, b, "/file_writes/aligned");
  count_row("bytes got", a, b, "/gets/bytes", true);
  count_row("file reads", a, b, "/file_reads/count");
  count_row("  bytes", a, b, "/file_reads/bytes", true);
  seconds_row("time, mean over ranks", seconds_in(a), seconds_in(b));
  for (const char* stage :
       {"walk", "pool", "scatter", "node_wait", "exchange", "write", "read", "pick", "agree"}) {
    const auto mean = [&](const json& file) { return file.at("seconds").at(stage).at("mean").get<double>(); };
    seconds_row(std::string("  ") + stage, mean(a), mean(b));
  }
  if (const std::string of_a = text(a, "settings"), of_b = text(b, "settings"); of_a != of_b)
    fmt::print("  settings of A         {}\n  settings of B         {}\n",
               of_a.empty() ? "defaults" : printable(of_a), of_b.empty() ? "defaults" : printable(of_b));
}

void list_only(const Files& files, const char* which) {
  if (files.empty()) return;
  fmt::print("\nonly in {}\n", which);
  for (const json* file : files) {
    fmt::print("  {}: {} put, {}\n", printable(text(*file, "path")),
               human_bytes(file->at("bytes").get<std::int64_t>()),
               counted(file->at("file_writes").at("count").get<std::int64_t>(), "write", "writes"));
  }
}

}  // namespace

double seconds_in(const json& file) {
  double sum = 0;
  for (const json& stage : file.at("seconds")) sum += stage.at("mean").get<double>();
  return sum;
}

void print_comparison(const json& a, const json& b, const std::string& name_a, const std::string& name_b) {
  for (const auto& [label, name, document] : {std::tuple{"A", &name_a, &a}, {"B", &name_b, &b}}) {
    fmt::print("{}  {}: {}, on {}, {}\n", label, printable(*name), printable(text(*document, "command")),
               printable(text(*document, "host")), printable(text(*document, "date")));
  }
  const Pairs pairs = pair_up(a, b);
  for (const auto& [of_a, of_b] : pairs.both) compare(*of_a, *of_b);
  list_only(pairs.only_a, "A");
  list_only(pairs.only_b, "B");
  if (pairs.both.empty()) fmt::print("\nNo file of A has the name of one of B.\n");
}

}  // namespace forebay::tools
