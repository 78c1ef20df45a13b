#include "engine/collective_write.hpp"

#include <optional>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/file_context.hpp"
#include "engine/reach.hpp"
#include "engine/window_use.hpp"

namespace forebay {

Status collective_write(FileContext& file, std::span<const Put> puts, Status mine,
                        std::span<std::int64_t> agree_max) {
  const FileDomains& layout = file.layout;
  Guess& guess = file.guess;
  const Reach reach(layout, puts);

  WindowUse use(file);
  std::optional<FlushRun> run;
  if (use.get() != nullptr) run.emplace(file.flush_over(*use.get()), puts);
  const int shift = guess.shift();
  const bool guessing = run && guess.worth_it();
  // Ranks with data say where their round begins; -1 is a rank that could not guess.
  std::int64_t least_base = kNoOffset, most_base = ~kNoOffset;
  if (guessing) {
    const std::int64_t base = puts.empty() ? 0 : layout.round_begin(reach.hull.begin);
    if (reach.hull.end > base + layout.round_bytes() || reach.alignment < std::int64_t{1} << shift ||
        !run->guess(base, shift, !puts.empty())) {
      least_base = -1;
    } else if (!puts.empty()) {
      least_base = most_base = base;
    }
  }
  Agreement agreed;
  const auto begin = agreed.minimum(reach.hull.begin);
  const auto end = agreed.maximum(reach.hull.end);
  const auto alignment = agreed.minimum(reach.alignment);
  const auto well = agreed.all(mine.ok() && (!run || run->status().ok()));
  const auto from = agreed.minimum(least_base);
  const auto to = agreed.maximum(most_base);
  agreed.maxima(agree_max);
  {
    const StageTimer timer(file.counters, Stage::agree);
    use.agree(agreed);
  }

  bool all_well = agreed[well];
  if (agreed[begin] != kNoOffset) {
    const bool guessed = guessing && agreed[from] >= 0 && agreed[from] == agreed[to];
    const int agreed_shift = shift_of(agreed[alignment]);
    guess.learn(guessing, guessed, agreed_shift);
    Status flushed = use.settle();
    if (flushed.ok() && use.moved()) {
      if (run) run->forget_guess();
      run.emplace(file.flush_over(*use.get()), puts);
    }
    if (flushed.ok()) {
      flushed = guessed && !use.moved() ? run->run_guessed(agreed[from], {agreed[begin], agreed[end]})
                                        : run->run(agreed[begin], agreed_shift);
    }
    if (!flushed.ok()) all_well = false;
    mine.update(flushed);
    if (file.nodes->topology().nodes > 1) {
      const StageTimer timer(file.counters, Stage::agree);
      all_well = file.comm->all(all_well);
    }
  }
  if (all_well) return {};
  return spread_failure(*file.comm, mine);
}

}  // namespace forebay
