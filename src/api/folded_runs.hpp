// A list of runs in little memory where they repeat themselves, as those of a loop over the elements of some
// arrays do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "request/run.hpp"

namespace forebay::tcio {

/// Where the runs of up to 16 arrays come by turns, each going on by a step of its own, two turns are kept,
/// and the others counted.
class FoldedRuns {
 public:
  bool empty() const { return runs_.empty(); }
  /// Throws std::bad_alloc.
  void add(const Run& run);
  /// Calls f(run) for all, in their order.
  template <class F>
  void for_each(F&& f) const;
  /// What is kept: runs, and repetitions of them.
  std::size_t entries() const { return runs_.size() + repetitions_.size(); }

 private:
  /// After runs_[before - 1]: `count` runs, each as far from the one a turn of `period` runs before as that
  /// is from the one two turns before.
  struct Repetition {
    std::size_t before, period;
    std::int64_t count;
  };

  static Run ahead(const Run& last, const Run& before, std::int64_t steps) {
    return {last.file + steps * (last.file - before.file),
            last.stream + steps * (last.stream - before.stream), last.length};
  }
  static bool same(const Run& a, const Run& b) {
    return a.file == b.file && a.stream == b.stream && a.length == b.length;
  }
  Run repeated(const Repetition& of, std::int64_t i) const {
    const auto turn = static_cast<std::int64_t>(of.period);
    const std::size_t last = of.before - of.period + static_cast<std::size_t>(i % turn);
    return ahead(runs_[last], runs_[last - of.period], i / turn + 1);
  }
  void fold();

  std::vector<Run> runs_;
  std::vector<Repetition> repetitions_;
};

template <class F>
void FoldedRuns::for_each(F&& f) const {
  std::size_t at = 0;
  for (const Repetition& again : repetitions_) {
    while (at < again.before) f(runs_[at++]);
    for (std::int64_t i = 0; i < again.count; ++i) f(repeated(again, i));
  }
  while (at < runs_.size()) f(runs_[at++]);
}

}  // namespace forebay::tcio
