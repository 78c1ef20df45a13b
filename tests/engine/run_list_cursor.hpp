// The plainest cursor there is, for tests: ascending runs from a vector.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "request/cursor.hpp"

namespace forebay::test {

class RunListCursor final : public Cursor {
 public:
  explicit RunListCursor(std::vector<Run> runs) : runs_(std::move(runs)) {}

  Extent hull() const override {
    if (runs_.empty()) return {};
    return {runs_.front().file, runs_.back().file + runs_.back().length};
  }
  std::int64_t alignment() const override {
    std::int64_t bits = 4096;
    for (const Run& run : runs_) bits |= run.file | run.length;
    return bits & -bits;
  }
  // Streams that are used up in order.
  std::int64_t stream_bytes() const override {
    std::int64_t end = 0;
    for (const Run& run : runs_) {
      if (run.stream != end) return -1;
      end += run.length;
    }
    return end;
  }
  std::unique_ptr<Cursor> copy() const override { return std::make_unique<RunListCursor>(runs_); }
  void start(std::int64_t) override {
    at_ = 0;
    cut_ = 0;
  }
  std::int64_t peek() override { return at_ == runs_.size() ? kNoOffset : runs_[at_].file + cut_; }
  std::size_t take(std::int64_t limit, std::span<Run> out) override {
    std::size_t n = 0;
    while (n < out.size() && at_ < runs_.size() && runs_[at_].file + cut_ < limit) {
      const Run& run = runs_[at_];
      const std::int64_t length = std::min(run.length - cut_, limit - run.file - cut_);
      out[n++] = {run.file + cut_, run.stream + cut_, length};
      cut_ += length;
      if (cut_ == run.length) {
        cut_ = 0;
        ++at_;
      }
    }
    return n;
  }

 private:
  std::vector<Run> runs_;
  std::size_t at_ = 0;
  std::int64_t cut_ = 0;
};

}  // namespace forebay::test
