#include "engine/collective.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/fetch.hpp"
#include "engine/file_context.hpp"
#include "engine/keeper.hpp"
#include "engine/outbox_fetch.hpp"
#include "engine/reach.hpp"
#include "engine/window_use.hpp"
#include "ranks/agreement.hpp"

namespace forebay {
namespace {

// Where a read is a copy from this machine's memory more often than not, and costs a microsecond.
constexpr std::int64_t kMeanOnLocal = 2 << 10;
constexpr std::size_t kFewOnLocal = 8;
constexpr std::int64_t kGapOnLocal = 16 << 10;
constexpr std::int64_t kGap = 128 << 10;
// Where less than this part of a range is wanted, it is worth finding out which.
constexpr std::int64_t kSparse = 4;

Status read_directly(FileContext& file, std::span<const Get> gets) noexcept {
  const StageTimer timer(file.counters, Stage::read);
  Status status;
  try {
    for (const Get& get : gets) {
      if (status.ok()) status = file.bypass.read(get, *file.storage, file.counters);
    }
  } catch (const std::bad_alloc&) {  // others wait
    status = file.no_memory("for a collective read of ");
  }
  return status;
}

}  // namespace

// The first reduction is also the barrier after which all that any rank wrote before is there, the last one
// that before which nobody writes anything new (HDF5 writes chunks that a rank holds in its cache when it
// likes). In a file that nobody can write, a rank reads its long runs before it waits for the others, and
// where all have nothing else, there is no second reduction.
Status collective_read(FileContext& file, Keeper& keeper, std::span<const Get> gets) {
  std::int64_t kept_here = 0;
  if (Status status = keeper.before_collective_read(kept_here); !status.ok()) return status;
  std::vector<Get> rest;
  std::vector<Get> direct;
  Status mine;
  // Whatever this rank cannot do, the others wait for it below.
  try {
    rest.reserve(gets.size());
    for (const Get& get : gets) {
      if (!get.cursor->hull().empty()) rest.push_back(get);
    }
    const StageTimer timer(file.counters, Stage::walk);
    direct = file.file.local() ? Bypass::take_out(rest, kMeanOnLocal, kFewOnLocal)
                               : Bypass::take_out(rest, file.settings.bypass_bytes);
  } catch (const std::bad_alloc&) {
    mine = file.no_memory("for a collective read of ");
    rest.clear();
    direct.clear();
  }

  const bool nobody_writes = !file.options.mode.writes;
  Extent direct_hull{kNoOffset, 0};
  std::int64_t direct_bytes = 0;
  for (const Get& get : direct) {
    const Extent hull = get.cursor->hull();
    direct_hull = {std::min(direct_hull.begin, hull.begin), std::max(direct_hull.end, hull.end)};
    direct_bytes += std::max<std::int64_t>(0, get.cursor->bytes());
  }
  mine.update(file.file.show());
  const Reach reach(file.layout, std::span<const Get>(rest));
  std::int64_t bytes = 0;
  for (const Get& get : rest) bytes += std::max<std::int64_t>(0, get.cursor->bytes());
  Agreement agreed;
  const auto begin = agreed.minimum(reach.hull.begin);
  const auto end = agreed.maximum(reach.hull.end);
  const auto alignment = agreed.minimum(reach.alignment);
  const auto kept = agreed.maximum(kept_here);
  const auto well = agreed.all(mine.ok());
  agreed.sum(bytes);
  const auto read_early = [&]() noexcept { mine.update(read_directly(file, direct)); };
  std::optional<WindowUse> use(std::in_place, file);
  if (nobody_writes)
    use->agree(agreed, std::cref(read_early));
  else
    use->agree(agreed);
  const auto look_ahead = [&] {
    if (file.ahead && agreed[well])
      file.ahead->note(file, {agreed[begin], agreed[end]}, agreed.sum(), direct_hull, direct_bytes);
  };
  if (nobody_writes && agreed[begin] == kNoOffset && agreed[well]) {
    look_ahead();
    return mine;
  }
  file.file.look_anew();
  if (agreed[kept] != 0) {
    use.reset();  // a flush has a use of its own
    mine.update(file.shown(keeper.flush_kept()));
    use.emplace(file);
    Agreement again;
    use->agree(again);
  }

  if (!nobody_writes && mine.ok()) mine = read_directly(file, direct);
  if (agreed[begin] != kNoOffset) {
    Status windowed = use->settle();
    if (windowed.ok()) {
      const Extent hull{agreed[begin], agreed[end]};
      const std::int64_t gap = file.file.local() ? kGapOnLocal : kGap;
      const int shift = shift_of(agreed[alignment]);
      std::optional<OwnPart> part;
      if (file.may_have_own_parts(hull)) {
        const bool tries = file.own_reads.worth_it();
        if (tries) part = find_own_parts(file, *use->get(), std::span<const Get>(rest));
        file.own_reads.learn(tries, part.has_value());
      }
      Outbox* const outbox =
          !part && file.takes_wide(hull, Direction::read) ? file.outbox(*use->get()) : nullptr;
      if (part) {
        windowed = fetch_own_parts(file, *use->get(), rest, gap, *part, shift);
      } else if (outbox != nullptr) {
        windowed = OutboxFetch(file.flush_over(*use->get()), *outbox, rest, gap).run(hull, shift);
      } else {
        FetchRun run(file.flush_over(*use->get()), rest, gap);
        windowed = file.nodes->topology().nodes == 1 && agreed.sum() >= hull.size() / kSparse
                       ? run.run_whole(hull)
                       : run.run(hull, shift);
      }
    }
    mine.update(std::move(windowed));
  }
  look_ahead();
  return file.outcome(mine);
}

}  // namespace forebay
