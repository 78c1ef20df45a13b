// Some nodes of a job, as a hint names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

/// All nodes, so many of them, or those of some ranges, by number.
struct NodeChoice {
  struct Range {
    int first = 0, last = 0;  ///< both included
    bool operator==(const Range&) const = default;
  };
  int count = 0;                ///< 0: all, or `ranges`
  std::vector<Range> ranges{};  ///< ascending, with nodes between them

  NodeChoice() = default;
  explicit NodeChoice(int nodes) : count(nodes) {}
  /// In any order.
  explicit NodeChoice(std::vector<Range> some);

  bool operator==(const NodeChoice&) const = default;

  /// As one number, by which ranks agree: 0 all, a count, or -n: n ranges, which have to be told beside it.
  std::int64_t as_number() const {
    return ranges.empty() ? count : -static_cast<std::int64_t>(ranges.size());
  }
  static NodeChoice of_number(std::int64_t number) {
    if (number >= 0) return NodeChoice(static_cast<int>(number));
    NodeChoice choice;
    choice.ranges.resize(static_cast<std::size_t>(-number));
    return choice;
  }
};

/// "all"; "4": so many; "0-3,8": these, and "4-4" is number 4 alone. Nothing: it is none of them.
std::optional<NodeChoice> parse_nodes(std::string_view text);
/// As it is parsed.
std::string text_of(const NodeChoice& choice);

}  // namespace forebay
