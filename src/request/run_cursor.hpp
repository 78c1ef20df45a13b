// A cursor over runs that lie in memory already, as level 1 and the pending reads have them.
#pragma once

#include <algorithm>
#include <span>

#include "request/cursor.hpp"

namespace forebay {

/// `List` has size() and a Run at operator[]; its runs ascend and do not overlap. The list is not copied.
template <class List>
class RunCursor final : public Cursor {
 public:
  explicit RunCursor(const List& runs) : runs_(runs) {}

  Extent hull() const override {
    if (runs_.size() == 0) return {};
    const Run last = runs_[runs_.size() - 1];
    return {runs_[0].file, last.file + last.length};
  }

  std::int64_t alignment() const override {
    std::uint64_t bits = 4096;
    for (std::size_t i = 0; i < runs_.size() && (bits & 1) == 0; ++i)
      bits |= static_cast<std::uint64_t>(runs_[i].file) | static_cast<std::uint64_t>(runs_[i].length);
    return static_cast<std::int64_t>(bits & -bits);
  }

  std::int64_t bytes() const override {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) sum += runs_[i].length;
    return sum;
  }

  void start(std::int64_t) override { at_ = 0, cut_ = 0; }

  std::int64_t peek() override { return at_ < runs_.size() ? runs_[at_].file + cut_ : kNoOffset; }

  std::size_t take(std::int64_t limit, std::span<Run> out) override {
    std::size_t n = 0;
    for (; n < out.size() && at_ < runs_.size(); ++n) {
      const Run run = runs_[at_];
      const std::int64_t begin = run.file + cut_;
      if (begin >= limit) break;
      const std::int64_t length = std::min(run.length - cut_, limit - begin);
      out[n] = {begin, run.stream + cut_, length};
      cut_ += length;
      if (cut_ == run.length) ++at_, cut_ = 0;
    }
    return n;
  }

 private:
  const List& runs_;
  std::size_t at_ = 0;
  std::int64_t cut_ = 0;
};

/// One contiguous range.
struct OneRun {
  Run run;
  static std::size_t size() { return 1; }
  Run operator[](std::size_t) const { return run; }
};

}  // namespace forebay
