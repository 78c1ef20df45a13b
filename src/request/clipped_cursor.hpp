// The part of a cursor's runs that lies in some ranges of the file, or the part that does not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "request/cursor.hpp"

namespace forebay {

/// Refers to the other cursor, which nobody else uses meanwhile, and to the ranges, which ascend and are
/// apart. What is not wanted is walked, not moved.
class ClippedCursor final : public Cursor {
 public:
  enum class Side { inside, outside };

  ClippedCursor(Cursor& whole, std::span<const Extent> ranges, Side side)
      : whole_(whole), ranges_(ranges), side_(side) {}

  Extent hull() const override {
    const Extent all = whole_.hull();
    if (all.empty()) return all;
    Extent here = all;
    const std::size_t first = behind(0, all.begin), last = behind(0, all.end - 1);
    const auto within = [&](std::size_t i, std::int64_t at) {
      return i < ranges_.size() && ranges_[i].begin <= at;
    };
    if (side_ == Side::inside) {
      if (!within(first, all.begin)) here.begin = first < ranges_.size() ? ranges_[first].begin : all.end;
      if (!within(last, all.end - 1)) here.end = last > 0 ? ranges_[last - 1].end : all.begin;
    } else {
      if (within(first, all.begin)) here.begin = ranges_[first].end;
      if (within(last, all.end - 1)) here.end = ranges_[last].begin;
    }
    return here;
  }
  std::int64_t alignment() const override { return whole_.alignment(); }  // the ranges are of whole stripes
  std::int64_t bytes() const override { return -1; }

  void start(std::int64_t round_bytes) override {
    whole_.start(round_bytes);
    near_ = next_ = count_ = 0;
  }

  std::int64_t peek() override {
    std::int64_t next = whole_.peek();
    for (std::size_t i = next_; i < count_; ++i) next = std::min(next, batch_[i].file);
    if (next == kNoOffset) return next;
    const std::size_t i = behind(0, next);
    const bool within = i < ranges_.size() && ranges_[i].begin <= next;
    if (side_ == Side::inside) return within ? next : i < ranges_.size() ? ranges_[i].begin : kNoOffset;
    return within ? ranges_[i].end : next;
  }

  std::size_t take(std::int64_t limit, std::span<Run> out) override {
    std::size_t n = 0;
    while (n < out.size()) {
      if (next_ == count_) {
        next_ = 0;
        count_ = whole_.take(limit, batch_);
        if (count_ == 0) break;
      }
      n += cut(out[n]) ? 1 : 0;
    }
    return n;
  }

 private:
  // The first range from number `from` on that ends behind `offset`.
  std::size_t behind(std::size_t from, std::int64_t offset) const {
    const auto found = std::upper_bound(ranges_.begin() + static_cast<std::ptrdiff_t>(from), ranges_.end(),
                                        offset, [](std::int64_t at, const Extent& e) { return at < e.end; });
    return static_cast<std::size_t>(found - ranges_.begin());
  }

  // Takes what lies before the next begin or end of a range from the next run. False: it is not wanted.
  bool cut(Run& out) {
    Run& run = batch_[next_];
    // Runs of a round may come in any order.
    if (near_ > 0 && run.file < ranges_[near_ - 1].end) near_ = 0;
    if (near_ < ranges_.size() && ranges_[near_].end <= run.file) near_ = behind(near_, run.file);
    const bool within = near_ < ranges_.size() && ranges_[near_].begin <= run.file;
    std::int64_t border = kNoOffset;
    if (near_ < ranges_.size()) border = within ? ranges_[near_].end : ranges_[near_].begin;
    out = run;
    out.length = std::min(run.length, border - run.file);
    run.file += out.length;
    run.stream += out.length;
    run.length -= out.length;
    if (run.length == 0) ++next_;
    return within == (side_ == Side::inside);
  }

  Cursor& whole_;
  std::span<const Extent> ranges_;
  Side side_;
  std::size_t near_ = 0;  // the range that a run is in or before: the next one's mostly
  // Runs that were taken, the first of them perhaps in part:
  std::array<Run, 64> batch_;
  std::size_t next_ = 0, count_ = 0;
};

}  // namespace forebay
