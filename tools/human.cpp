// Formatting of numbers.
#include "human.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace forebay::tools {

std::string human_bytes(std::int64_t bytes) {
  if (bytes < 1024) return counted(bytes, "byte", "bytes");
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = std::floor(value) == value;
  return whole ? fmt::format("{:.0f} {}", value, units[unit]) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string human_count(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3 && text[at - 3 - 1] != '-';) {
    at -= 3;
    text.insert(at, " ");
  }
  return text;
}

std::string counted(std::int64_t count, const std::string& one, const std::string& many) {
  return human_count(count) + ' ' + (count == 1 ? one : many);
}

std::string why_so_many_aggregators(const std::string& counted_by) {
  if (counted_by == "network cards") return "one for each network card";
  if (counted_by == "NUMA domains") return "one for each NUMA domain";
  if (counted_by == "ranks") return "all ranks of the smallest node";
  if (counted_by == "cb_nodes") return "by cb_nodes";
  if (counted_by == "hint") return "by forebay_aggregators_per_node";
  return counted_by.empty() ? "" : "the usual number";
}

}  // namespace forebay::tools
