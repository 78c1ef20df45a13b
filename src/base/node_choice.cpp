#include "base/node_choice.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace forebay {
namespace {

constexpr int kMostNumber = 1 << 24;

std::optional<int> number_of(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  if (begin == text.npos) return std::nullopt;
  text = text.substr(begin, end - begin + 1);
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size() || number < 0 || number > kMostNumber)
    return std::nullopt;
  return number;
}

std::optional<NodeChoice::Range> range_of(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = number_of(text.substr(0, dash));
  const auto last = dash == text.npos ? first : number_of(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return NodeChoice::Range{*first, *last};
}

}  // namespace

NodeChoice::NodeChoice(std::vector<Range> some) {
  std::ranges::sort(some, {}, &Range::first);
  for (const Range& range : some) {
    if (!ranges.empty() && range.first <= ranges.back().last + 1)
      ranges.back().last = std::max(ranges.back().last, range.last);
    else
      ranges.push_back(range);
  }
}

std::optional<NodeChoice> parse_nodes(std::string_view text) {
  if (text == "all") return NodeChoice();
  if (text.find_first_of(",-") == text.npos) {
    const auto count = number_of(text);
    if (!count || *count == 0) return std::nullopt;
    return NodeChoice(*count);
  }
  std::vector<NodeChoice::Range> ranges;
  for (;;) {
    const auto comma = text.find(',');
    const auto range = range_of(text.substr(0, comma));
    if (!range) return std::nullopt;
    ranges.push_back(*range);
    if (comma == text.npos) return NodeChoice(std::move(ranges));
    text.remove_prefix(comma + 1);
  }
}

std::string text_of(const NodeChoice& choice) {
  if (choice.ranges.empty()) return choice.count == 0 ? "all" : std::to_string(choice.count);
  std::string text;
  for (const auto& [first, last] : choice.ranges) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    // A number by itself is a count.
    if (first != last || choice.ranges.size() == 1) text += '-' + std::to_string(last);
  }
  return text;
}

}  // namespace forebay
