#include "engine/collective.hpp"

#include <array>
#include <new>
#include <optional>
#include <utility>

#include "base/section.hpp"
#include "engine/file_context.hpp"
#include "engine/outbox_run.hpp"
#include "engine/reach.hpp"
#include "engine/window_use.hpp"
#include "ranks/agreement.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kMostDirectRuns = 16;  // of a file
constexpr std::int64_t kMostDirectBytes = 64 << 10;

}  // namespace

std::int64_t count_direct(const FileContext& file, std::span<const Put> puts) {
  constexpr std::int64_t too_many = kMostDirectRuns + 1;
  std::int64_t runs = 0;
  std::array<Run, too_many> batch;
  try {
    for (const Put& put : puts) {
      const std::int64_t bytes = put.cursor->bytes();
      if (!fits_direct(file, runs) || bytes < 0 || bytes > kMostDirectBytes) return too_many;
      put.cursor->start(file.layout.round_bytes());
      runs += static_cast<std::int64_t>(put.cursor->take(kNoOffset, batch));
    }
  } catch (const std::bad_alloc&) {  // where it is written it says so itself
    return too_many;
  }
  return runs;
}

bool fits_direct(const FileContext& file, std::int64_t all_runs) {
  return !file.windowed && file.nodes->topology().owning.empty() && !file.file.views_differ() &&
         file.direct_runs + all_runs <= kMostDirectRuns;
}

Status write_direct(FileContext& file, std::span<const Put> puts, Status mine, std::int64_t all_runs) {
  file.direct_runs += all_runs;
  try {
    const StageTimer timer(file.counters, Stage::write);
    const Section section;  // the requests may be kept ones
    mine.update(file.write_now(puts));
  } catch (const std::bad_alloc&) {
    mine.update(file.no_memory("for a collective write to "));
  }
  return file.outcome(mine);
}

Status flush_in_rounds(FileContext& file, Window& window, std::span<const Put> puts, Extent hull, int shift) {
  if (file.may_have_own_parts(hull)) {
    const bool tries = file.own_parts.worth_it();
    std::optional<OwnPart> part;
    if (tries) part = find_own_parts(file, window, puts);
    file.own_parts.learn(tries, part.has_value());
    if (part) return flush_own_parts(file, window, puts, *part, shift);
  }
  return flush_shared(file, window, puts, hull, shift);
}

Status flush_shared(FileContext& file, Window& window, std::span<const Put> puts, Extent hull, int shift) {
  Outbox* const outbox = file.takes_wide(hull, Direction::write) ? file.outbox(window) : nullptr;
  if (outbox != nullptr) return OutboxRun(file.flush_over(window), *outbox, puts).run(hull.begin, shift);
  return FlushRun(file.flush_over(window), puts).run(hull.begin, shift);
}

Status collective_write(FileContext& file, std::span<const Put> puts, Status mine,
                        std::span<std::int64_t> agree_max) {
  const FileDomains& layout = file.layout;
  Guess& guess = file.guess;
  const Reach reach(layout, puts);

  WindowUse use(file);
  std::optional<FlushRun> run;
  if (use.get() != nullptr && !(file.wide.possible() && file.settings.rounds == Rounds::wide))
    run.emplace(file.flush_over(*use.get()), puts);
  const int shift = guess.shift();
  const auto several = [&] { return file.nodes->topology().nodes > 1; };  // may become so
  const bool guessing = run && guess.worth_it() && (guess.knows_shift() || !several());
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
  agreed.sum(count_direct(file, puts));
  use.agree(agreed);

  if (agreed[begin] != kNoOffset && fits_direct(file, agreed.sum()))
    return write_direct(file, puts, std::move(mine), agreed.sum());
  bool all_well = agreed[well];
  if (agreed[begin] != kNoOffset) {
    const bool guessed = guessing && agreed[from] >= 0 && agreed[from] == agreed[to];
    const int agreed_shift = shift_of(agreed[alignment]);
    guess.learn(guessing, guessed, agreed_shift);
    Status flushed = use.settle();
    const bool stays = run && !use.moved();
    if (flushed.ok() && stays && !several()) {
      flushed = guessed ? run->run_guessed(agreed[from], {agreed[begin], agreed[end]})
                        : run->run(agreed[begin], agreed_shift);
    } else if (flushed.ok() && !(stays && guessed)) {
      if (run) run->forget_guess();
      run.reset();
      flushed = flush_in_rounds(file, *use.get(), puts, {agreed[begin], agreed[end]}, agreed_shift);
    } else if (flushed.ok()) {
      flushed = run->run_guessed(agreed[from], {agreed[begin], agreed[end]});
    }
    if (!flushed.ok()) all_well = false;
    mine.update(flushed);
    if (several()) {
      const StageTimer timer(file.counters, Stage::agree);
      all_well = file.comm->all(all_well);
    }
  }
  if (all_well) return {};
  return spread_failure(*file.comm, mine);
}

}  // namespace forebay
