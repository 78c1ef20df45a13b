#include "layout/own_parts.hpp"

#include <algorithm>
#include <utility>

namespace forebay {
namespace {

// Of the stripes, those that several nodes have.
constexpr std::int64_t kSharedAtMost = 4;  // a quarter
// A node's part, in parts of the mean: what it writes alone, others would help it with.
constexpr std::int64_t kLargest = 3;

}  // namespace

std::vector<Extent> joined(std::vector<Extent> stripes, std::size_t most) {
  std::erase_if(stripes, [](const Extent& e) { return e.empty(); });
  stripes.resize(merge_ranges(std::span(stripes)));
  std::vector<Extent>& apart = stripes;
  if (apart.size() <= most) return apart;
  // The widest gaps stay.
  std::vector<std::pair<std::int64_t, std::size_t>> gaps;
  for (std::size_t i = 1; i < apart.size(); ++i) gaps.emplace_back(apart[i].begin - apart[i - 1].end, i);
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(most - 1),
                           std::ranges::greater{});
  gaps.resize(most - 1);
  std::ranges::sort(gaps, {}, &std::pair<std::int64_t, std::size_t>::second);
  std::vector<Extent> fewer{apart.front()};
  auto gap = gaps.begin();
  for (std::size_t i = 1; i < apart.size(); ++i) {
    if (gap != gaps.end() && gap->second == i) {
      ++gap;
      fewer.push_back(apart[i]);
    } else {
      fewer.back().end = apart[i].end;
    }
  }
  return fewer;
}

std::vector<Extent> stripes_of(std::span<const Extent> hulls, std::int64_t stripe, std::size_t most) {
  std::vector<Extent> stripes;
  for (const Extent& hull : hulls) {
    if (!hull.empty()) stripes.push_back({hull.begin / stripe, (hull.end - 1) / stripe + 1});
  }
  return joined(std::move(stripes), most);
}

std::optional<OwnParts> own_parts(std::span<const std::vector<Extent>> touched, std::int64_t stripe) {
  struct End {
    std::int64_t at;
    int change;  ///< of how many nodes have the stripes from there on
    std::size_t node;
  };
  std::vector<End> ends;
  std::int64_t all = 0, largest = 0;
  for (std::size_t n = 0; n < touched.size(); ++n) {
    std::int64_t mine = 0;
    for (const Extent& e : touched[n]) {
      ends.push_back({e.begin, 1, n});
      ends.push_back({e.end, -1, n});
      mine += e.size();
    }
    all += mine;
    largest = std::max(largest, mine);
  }
  std::ranges::sort(ends, [](const End& a, const End& b) { return a.at < b.at; });
  OwnParts parts{std::vector<std::vector<Extent>>(touched.size()), kNoOffset};
  std::int64_t own = 0, shared = 0;
  // Whoever has the stripes from here on: how many, and the sum of their numbers, which of one alone is its
  // own.
  int have = 0;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < ends.size();) {
    const std::int64_t at = ends[i].at;
    for (; i < ends.size() && ends[i].at == at; ++i) {
      have += ends[i].change;
      sum += ends[i].change > 0 ? ends[i].node : std::size_t{0} - ends[i].node;
    }
    if (have == 0) continue;
    const std::int64_t next = ends[i].at;
    if (have > 1) {
      shared += next - at;
      parts.first_shared = std::min(parts.first_shared, at * stripe);
      continue;
    }
    own += next - at;
    auto& mine = parts.of_node[sum];
    if (!mine.empty() && mine.back().end == at * stripe)
      mine.back().end = next * stripe;
    else
      mine.push_back({at * stripe, next * stripe});
  }
  if (kSharedAtMost * shared > own + shared) return std::nullopt;
  if (largest * static_cast<std::int64_t>(touched.size()) > kLargest * all) return std::nullopt;
  return parts;
}

}  // namespace forebay
