// A repetition begins once a turn has come twice, so that what does not repeat costs a few comparisons a run.
#include "api/folded_runs.hpp"

#include <algorithm>

namespace forebay::tcio {
namespace {

constexpr std::size_t kLongestPeriod = 16;

}  // namespace

void FoldedRuns::add(const Run& run) {
  const Step step{run.file - last_.file, run.stream - last_.stream, run.length};
  last_ = run;
  if (repeats(step)) return;
  steps_.push_back(step);
  fold();
}

bool FoldedRuns::repeats(const Step& step) {
  if (repetitions_.empty() || repetitions_.back().before != steps_.size()) return false;
  Repetition& last = repetitions_.back();
  const std::size_t turn = static_cast<std::size_t>(last.count) % last.period;
  if (steps_[steps_.size() - last.period + turn] != step) return false;
  ++last.count;
  return true;
}

void FoldedRuns::fold() {
  // Steps before a repetition stay, since it counts them from its end.
  const std::size_t fixed = repetitions_.empty() ? 0 : repetitions_.back().before;
  for (std::size_t period = 1; period <= kLongestPeriod && fixed + 2 * period <= steps_.size(); ++period) {
    const auto turn = steps_.end() - static_cast<std::ptrdiff_t>(period);
    if (!std::equal(turn, steps_.end(), turn - static_cast<std::ptrdiff_t>(period))) continue;
    repetitions_.push_back({steps_.size() - period, period, static_cast<std::int64_t>(period)});
    steps_.erase(turn, steps_.end());
    return;
  }
}

}  // namespace forebay::tcio
