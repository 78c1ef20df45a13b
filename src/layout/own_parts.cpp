#include "layout/own_parts.hpp"

#include <algorithm>

namespace forebay {
namespace {

// Of the stripes, those that several nodes have.
constexpr std::int64_t kSharedAtMost = 4;  // a quarter
// A node's part, in parts of the mean: what it writes alone, others would help it with.
constexpr std::int64_t kLargest = 3;

}  // namespace

std::optional<std::vector<Extent>> own_parts(std::span<const Extent> hulls, std::int64_t stripe) {
  struct Part {
    Extent stripes;  // numbers
    std::size_t node;
  };
  std::vector<Part> parts;
  for (std::size_t n = 0; n < hulls.size(); ++n) {
    if (!hulls[n].empty()) parts.push_back({{hulls[n].begin / stripe, (hulls[n].end - 1) / stripe + 1}, n});
  }
  std::ranges::sort(parts, {}, [](const Part& p) { return std::pair(p.stripes.begin, p.stripes.end); });
  std::vector<Extent> own(hulls.size(), Extent{0, 0});
  std::int64_t all = 0, shared = 0, largest = 0, reached = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Extent& mine = parts[i].stripes;
    if (i > 0 && mine.end < parts[i - 1].stripes.end) return std::nullopt;
    all += mine.size();
    largest = std::max(largest, mine.size());
    shared += std::max<std::int64_t>(0, std::min(reached, mine.end) - mine.begin);
    // Ends ascend as begins do: neighbours tell what anybody shares.
    const std::int64_t begin = std::max(mine.begin, reached);
    const std::int64_t end = i + 1 < parts.size() ? std::min(mine.end, parts[i + 1].stripes.begin) : mine.end;
    if (begin < end) own[parts[i].node] = {begin * stripe, end * stripe};
    reached = mine.end;
  }
  if (kSharedAtMost * shared > all - shared) return std::nullopt;
  if (largest * static_cast<std::int64_t>(hulls.size()) > kLargest * all) return std::nullopt;
  return own;
}

}  // namespace forebay
