// The part of a cursor's runs that lies in a range of the file, or the part that does not.
#pragma once

#include <algorithm>
#include <array>

#include "request/cursor.hpp"

namespace forebay {

/// Refers to the other cursor, which nobody else uses meanwhile. What is not wanted is walked, not moved.
class ClippedCursor final : public Cursor {
 public:
  enum class Side { inside, outside };

  ClippedCursor(Cursor& whole, Extent range, Side side) : whole_(whole), range_(range), side_(side) {}

  Extent hull() const override {
    const Extent all = whole_.hull();
    if (side_ == Side::inside) return {std::max(all.begin, range_.begin), std::min(all.end, range_.end)};
    const std::int64_t begin = range_.begin <= all.begin ? std::max(all.begin, range_.end) : all.begin;
    const std::int64_t end = all.end <= range_.end ? std::min(all.end, range_.begin) : all.end;
    return {begin, end};
  }
  std::int64_t alignment() const override { return whole_.alignment(); }  // the range is of whole stripes
  std::int64_t bytes() const override { return -1; }

  void start(std::int64_t round_bytes) override {
    whole_.start(round_bytes);
    left_ = {0, 0, 0};
  }

  std::int64_t peek() override {
    if (left_.length > 0) return left_.file;
    const std::int64_t next = whole_.peek();
    if (side_ == Side::inside) return next >= range_.end ? kNoOffset : std::max(next, range_.begin);
    return range_.begin <= next && next < range_.end ? range_.end : next;
  }

  std::size_t take(std::int64_t limit, std::span<Run> out) override {
    std::size_t n = 0;
    if (left_.length > 0) {
      out[n++] = left_;
      left_.length = 0;
    }
    std::array<Run, 64> batch;
    while (n < out.size()) {
      // Each may become two.
      const std::size_t room = std::min(batch.size(), std::max<std::size_t>(1, (out.size() - n) / 2));
      const std::size_t taken = whole_.take(limit, {batch.data(), room});
      if (taken == 0) break;
      for (std::size_t i = 0; i < taken; ++i) {
        const Run& run = batch[i];
        const std::int64_t end = run.file + run.length;
        if (side_ == Side::inside) {
          put(out, n, run, std::max(run.file, range_.begin), std::min(end, range_.end));
        } else {
          put(out, n, run, run.file, std::min(end, range_.begin));
          put(out, n, run, std::max(run.file, range_.end), end);
        }
      }
    }
    return n;
  }

 private:
  void put(std::span<Run> out, std::size_t& n, const Run& run, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    const Run part{begin, run.stream + (begin - run.file), end - begin};
    if (n < out.size())
      out[n++] = part;
    else
      left_ = part;
  }

  Cursor& whole_;
  Extent range_;
  Side side_;
  Run left_{0, 0, 0};
};

}  // namespace forebay
