// A list of runs in little memory where they repeat themselves, as those of a loop over the elements of some
// arrays do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "request/run.hpp"

namespace forebay::tcio {

/// Runs are kept as steps, each from the run before; a turn of up to 16 steps that came twice is kept once, and
/// counted from then on.
class FoldedRuns {
 public:
  bool empty() const { return steps_.empty(); }
  /// Throws std::bad_alloc.
  void add(const Run& run);
  /// Calls f(run) for all, in their order.
  template <class F>
  void for_each(F&& f) const;
  /// What is kept: steps, and repetitions of them.
  std::size_t entries() const { return steps_.size() + repetitions_.size(); }

 private:
  struct Step {
    std::int64_t file, stream, length;
    bool operator==(const Step&) const = default;
  };
  /// After steps_[before - 1]: the `period` steps before it come again, `count` steps in all.
  struct Repetition {
    std::size_t before, period;
    std::int64_t count;
  };

  bool repeats(const Step& step);
  void fold();

  std::vector<Step> steps_;
  std::vector<Repetition> repetitions_;
  Run last_{0, 0, 0};
};

template <class F>
void FoldedRuns::for_each(F&& f) const {
  Run run{0, 0, 0};
  const auto go = [&](const Step& step) {
    run = {run.file + step.file, run.stream + step.stream, step.length};
    f(run);
  };
  std::size_t at = 0;
  const auto steps_to = [&](std::size_t end) {
    for (; at < end; ++at) go(steps_[at]);
  };
  for (const Repetition& again : repetitions_) {
    steps_to(again.before);
    for (std::int64_t i = 0; i < again.count; ++i)
      go(steps_[again.before - again.period + static_cast<std::size_t>(i) % again.period]);
  }
  steps_to(steps_.size());
}

}  // namespace forebay::tcio
