// Finds, among very many requests, the few that have something below a round's limit, without asking the
// others.
#pragma once

#include <algorithm>
#include <vector>

#include "request/request.hpp"

namespace forebay {

/// A tree of minima over the requests in program order: each leaf is a lower bound of what its request has
/// left, each node the least of its 16 children. A round costs what it visits, whether requests are few or
/// 10^5; a request that is not reached is not even started, so that cursors which index themselves do it
/// late, and let go when they are through.
template <class Item>  // Put or Get
class ActiveItems {
 public:
  /// Keeps copies of the items (two pointers each).
  explicit ActiveItems(std::span<const Item> items) : items_(items.begin(), items.end()) {
    std::size_t size = items_.size();
    do {
      size = (size + fan_out - 1) / fan_out * fan_out;
      levels_.emplace_back(std::max(size, fan_out), kNoOffset);
      size /= fan_out;
    } while (size > 1);
  }

  /// Begins (again) at the first run of every request.
  void start(std::int64_t round_bytes) {
    round_bytes_ = round_bytes;
    started_.assign(items_.size(), false);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Extent hull = items_[i].cursor->hull();
      levels_[0][i] = hull.empty() ? kNoOffset : hull.begin;
    }
    for (std::size_t level = 1; level < levels_.size(); ++level) {
      for (std::size_t i = 0; i * fan_out < levels_[level - 1].size(); ++i)
        levels_[level][i] = least(level - 1, i);
    }
  }

  /// A lower bound of the next offset over all requests; kNoOffset when all are through.
  std::int64_t next() const { return least(levels_.size() - 1, 0); }

  /// Calls f(Item&) in program order for each request with peek() < limit. What f leaves untaken is found
  /// again.
  template <class F>
  void visit(std::int64_t limit, F&& f) {
    visit_children(levels_.size() - 1, 0, limit, f);
  }

 private:
  static constexpr std::size_t fan_out = 16;

  std::int64_t least(std::size_t level, std::size_t group) const {
    const std::int64_t* first = levels_[level].data() + group * fan_out;
    std::int64_t low = first[0];
    for (std::size_t i = 1; i < fan_out; ++i) low = std::min(low, first[i]);
    return low;
  }

  template <class F>
  void visit_children(std::size_t level, std::size_t group, std::int64_t limit, F& f) {
    const std::size_t first = group * fan_out;
    for (std::size_t i = first; i < first + fan_out; ++i) {
      if (levels_[level][i] >= limit) continue;
      if (level > 0) {
        visit_children(level - 1, i, limit, f);
        levels_[level][i] = least(level - 1, i);
      } else {
        visit_item(i, limit, f);
      }
    }
  }

  template <class F>
  void visit_item(std::size_t i, std::int64_t limit, F& f) {
    Item& item = items_[i];
    if (!started_[i]) {
      started_[i] = true;
      item.cursor->start(round_bytes_);
    }
    if (item.cursor->peek() < limit) f(item);
    levels_[0][i] = item.cursor->peek();
  }

  std::vector<Item> items_;
  std::vector<bool> started_;
  std::vector<std::vector<std::int64_t>> levels_;  // leaves first; each padded to whole groups with kNoOffset
  std::int64_t round_bytes_ = 1;
};

using ActiveSet = ActiveItems<Put>;

}  // namespace forebay
