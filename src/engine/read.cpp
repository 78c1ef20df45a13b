// Reads: each rank for itself, or all together.
#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>
#include <vector>

#include "engine/agreement.hpp"
#include "engine/fetch.hpp"
#include "engine/file_state.hpp"
#include "engine/window_use.hpp"
#include "request/memory_sink.hpp"
#include "request/strided.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kMostAlignment = 4096;
// Where a read is a copy from this machine's memory more often than not, and costs a microsecond.
constexpr std::int64_t kMeanOnLocal = 2 << 10;
constexpr std::size_t kFewOnLocal = 8;
constexpr std::int64_t kGapOnLocal = 16 << 10;
constexpr std::int64_t kGap = 128 << 10;
// Where less than this part of a range is wanted, it is worth finding out which.
constexpr std::int64_t kSparse = 4;

}  // namespace

Status CoreFile::read_at(std::int64_t offset, void* data, std::int64_t length) {
  State& s = *state_;
  const StageTimer timer(s.counters, Stage::read);
  if (s.behind) {
    if (Status status = s.write_pool_alone(); !status.ok()) return status;
  }
  if (s.on_node && s.on_node->segments.kept() > 0) {
    StridedCursor cursor(offset, 0, length, {});
    MemorySink sink(data);
    Counters counters;  // nobody asked by a get
    Status status = s.on_node->segments.read({&cursor, &sink}, s.bypass, counters);
    s.counters.reads += counters.reads;
    s.counters.read_bytes += counters.read_bytes;
    return status;
  }
  ++s.counters.reads;
  s.counters.read_bytes += length;
  return s.storage->read(offset, static_cast<std::byte*>(data), length);
}

Status CoreFile::read(std::span<const Get> gets) {
  State& s = *state_;
  const StageTimer timer(s.counters, Stage::read);
  s.counters.gets += static_cast<std::int64_t>(gets.size());
  Status status;
  for (const Get& get : gets) {
    if (!status.ok()) break;
    if (s.behind) status = s.write_pool_alone();
    if (!status.ok()) break;
    status = s.on_node ? s.on_node->segments.read(get, s.bypass, s.counters)
                       : s.bypass.read(get, *s.storage, s.counters);
  }
  return status;
}

Status CoreFile::read_all(std::span<const Get> gets) {
  State& s = *state_;
  const mpi::CollectiveCall call(about("collective read"));
  ++s.counters.collective_reads;
  s.counters.gets += static_cast<std::int64_t>(gets.size());
  if (s.behind) {
    if (Status status = flush(); !status.ok()) return status;
  }
  std::vector<Get> rest;
  std::vector<Get> direct;
  Status mine;
  // Whatever this rank cannot do, the others wait for it below.
  try {
    rest.reserve(gets.size());
    for (const Get& get : gets) {
      if (!get.cursor->hull().empty()) rest.push_back(get);
    }
    const StageTimer timer(s.counters, Stage::walk);
    direct = s.file.local() ? Bypass::take_out(rest, kMeanOnLocal, kFewOnLocal)
                            : Bypass::take_out(rest, s.settings.bypass_bytes);
  } catch (const std::bad_alloc&) {
    mine = {Code::no_memory, "no memory for a collective read of " + s.options.path};
    rest.clear();
    direct.clear();
  }
  return s.fetch_together(rest, direct, std::move(mine));
}

// The first meeting is also that after which all that any rank wrote before is there, the last one that
// before which nobody writes anything new (HDF5 writes chunks that a rank holds in its cache when it likes).
// In a file that nobody can write, a rank reads its long runs before it waits for the others, and where all
// have nothing but these, there is no second meeting.
Status CoreFile::State::fetch_together(std::span<const Get> gets, std::span<const Get> direct, Status mine) {
  const bool nobody_writes = (options.amode & MPI_MODE_RDONLY) != 0;
  Extent mine_only{kNoOffset, 0};
  std::int64_t alignment = std::min(kMostAlignment, layout.stripe_bytes() & -layout.stripe_bytes());
  std::int64_t bytes = 0;
  for (const Get& get : gets) {
    const Extent each = get.cursor->hull();
    mine_only = {std::min(mine_only.begin, each.begin), std::max(mine_only.end, each.end)};
    alignment = std::min(alignment, get.cursor->alignment());
    bytes += std::max<std::int64_t>(0, get.cursor->bytes());
  }
  Agreement agreed;
  const auto first = agreed.minimum(mine_only.begin);
  const auto end = agreed.maximum(mine_only.end);
  const auto least_alignment = agreed.minimum(alignment);
  const auto kept = agreed.maximum(on_node ? on_node->segments.kept() : 0);
  const auto well = agreed.all(mine.ok());
  agreed.sum(bytes);
  const auto read_direct = [&]() noexcept {
    const StageTimer timer(counters, Stage::read);
    try {
      for (const Get& get : direct) {
        if (mine.ok()) mine = bypass.read(get, *storage, counters);
      }
    } catch (const std::bad_alloc&) {  // others wait
      mine = {Code::no_memory, "no memory for a collective read of " + options.path};
    }
  };
  std::optional<WindowUse> use(std::in_place, *this);
  {
    const StageTimer timer(counters, Stage::agree);
    if (nobody_writes) {
      double& reading = counters.seconds[static_cast<std::size_t>(Stage::read)];
      const double before = reading;
      use->agree(agreed, read_direct);
      counters.seconds[static_cast<std::size_t>(Stage::agree)] -= reading - before;
    } else {
      use->agree(agreed);
    }
  }
  if (nobody_writes && agreed[first] == kNoOffset && agreed[well]) return mine;
  if (on_node) on_node->resting = false;
  if (agreed[kept] != 0) {
    use.reset();  // a flush has a use of its own
    mine.update(flush_segments());
    use.emplace(*this);
    Agreement once_more;
    use->agree(once_more);
  }

  if (!nobody_writes) read_direct();
  Status windowed_now;
  if (agreed[first] != kNoOffset) windowed_now = use->settle();
  if (agreed[first] != kNoOffset && windowed_now.ok()) {
    const Extent hull{agreed[first], agreed[end]};
    FetchRun run(flush_over(*use->get()), gets, file.local() ? kGapOnLocal : kGap);
    if (nodes->topology().nodes == 1 && agreed.sum() >= hull.size() / kSparse) {
      mine.update(run.run_whole(hull));
    } else {
      mine.update(run.run(hull, std::countr_zero(static_cast<std::uint64_t>(agreed[least_alignment]))));
    }
  }
  mine.update(std::move(windowed_now));
  return outcome(mine);
}

}  // namespace forebay
