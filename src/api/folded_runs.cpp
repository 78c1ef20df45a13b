// A repetition begins with the third turn that fits, so that what does not repeat costs a few comparisons a
// run.
#include "api/folded_runs.hpp"

namespace forebay::tcio {
namespace {

constexpr std::size_t kLongestPeriod = 16;

}  // namespace

void FoldedRuns::add(const Run& run) {
  if (!repetitions_.empty() && repetitions_.back().before == runs_.size()) {
    Repetition& last = repetitions_.back();
    if (same(run, repeated(last, last.count))) {
      ++last.count;
      return;
    }
  }
  runs_.push_back(run);
  fold();
}

void FoldedRuns::fold() {
  // Runs before a repetition stay, since it counts them from its end.
  const std::size_t fixed = repetitions_.empty() ? 0 : repetitions_.back().before;
  const std::size_t size = runs_.size();
  for (std::size_t period = 1; period <= kLongestPeriod && fixed + 3 * period <= size; ++period) {
    std::size_t fitting = 0;
    while (fitting < period) {
      const std::size_t i = size - 1 - fitting;
      if (!same(runs_[i], ahead(runs_[i - period], runs_[i - 2 * period], 1)) ||
          runs_[i - period].length != runs_[i - 2 * period].length)
        break;
      ++fitting;
    }
    if (fitting < period) continue;
    repetitions_.push_back({size - period, period, static_cast<std::int64_t>(period)});
    runs_.resize(size - period);
    return;
  }
}

}  // namespace forebay::tcio
