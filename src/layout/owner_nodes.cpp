#include "layout/owner_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace forebay {

std::optional<std::vector<int>> owner_nodes(const NodeChoice& choice, int nodes) {
  std::vector<int> chosen;
  for (const auto& [first, last] : choice.ranges) {
    for (int node = first; node <= last && node < nodes; ++node) chosen.push_back(node);
  }
  if (!choice.ranges.empty() && chosen.empty()) return std::nullopt;
  for (std::int64_t i = 0; i < choice.count && choice.count < nodes; ++i)
    chosen.push_back(static_cast<int>(i * nodes / choice.count));
  if (chosen.size() == static_cast<std::size_t>(nodes)) chosen.clear();
  return chosen;
}

NodeChoice choice_of(std::span<const int> nodes) {
  std::vector<NodeChoice::Range> ranges;
  for (const int node : nodes) ranges.push_back({node, node});
  return NodeChoice(std::move(ranges));
}

}  // namespace forebay
