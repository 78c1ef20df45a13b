// Keeping puts over many calls: each collective call decides in its one reduction whether all ranks keep
// theirs.
#include "engine/write_behind.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>
#include <vector>

#include "engine/agreement.hpp"
#include "engine/file_state.hpp"
#include "engine/section.hpp"
#include "engine/window_use.hpp"
#include "engine/write_out.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kMostAlignment = 4096;
constexpr std::size_t kMostExtents = 4096;  // of the calls that are kept
constexpr int kMostRest = 64;
constexpr int kFewCalls = 4;
constexpr auto kMostMeeting = std::chrono::seconds(60);
constexpr std::int64_t kSmallCall = std::int64_t{256} << 10;

}  // namespace

std::int64_t most_of_small_call(const Settings& settings) {
  return std::max(kSmallCall, pool_bound(settings) / 16);
}

WriteBehind::WriteBehind(const Settings& settings, const StoredFile& file, const std::string& path,
                         Storage& storage, Counters& counters, NodeMemory end_counts,
                         const Topology& topology, MPI_Comm between_nodes)
    : pool(pool_bound(settings)),
      counts(end_counts.at, topology.local_ranks, topology.local_rank),
      shared_(std::move(end_counts)),
      claim_(MemoryClaim::Kind::keeping, pool_bound(settings)),
      path_(path),
      file_(file),
      storage_(storage),
      counters_(counters),
      most_age_(std::chrono::seconds(settings.commit_seconds)),
      between_nodes_(between_nodes) {
  watch(*this);  // in MPI_Finalize all ranks count, whoever keeps something then
}

WriteBehind::~WriteBehind() {
  unwatch(*this);
}

void WriteBehind::keep() {
  const bool first = pool.empty();
  counts.keeps();
  written_out_ = false;
  pool.keep();
  if (pool.empty()) counts.written();
  if (!first || pool.empty()) return;
  since_ = std::chrono::steady_clock::now();
  watch(*this);
}

// Once the ranks have agreed to keep, none may fail to.
bool WriteBehind::make_room() noexcept {
  try {
    together.make_room();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void WriteBehind::clear_pool() {
  const Section section;
  pool.clear();
  counts.written();
}

void WriteBehind::clear() {
  clear_pool();
  together.clear();
  alone = false;
  calls = 0;
}

bool WriteBehind::overdue() const {
  return !pool.empty() && std::chrono::steady_clock::now() - since_ >= most_age_;
}

Status WriteBehind::write_all(Storage& storage) {
  Status status;
  pool.for_each([&](const Put& put) {
    if (status.ok()) status = bypass_.write(put, 4096, storage, counters_);
  });
  return status;
}

bool WriteBehind::raise_count(std::int64_t whole) noexcept {
  CountAtExit raised = count;
  raised.value = whole;
  return forebay::raise_count(file_.descriptor(), raised);
}

void WriteBehind::write_out(Ending ending) noexcept {
  if (ending.orderly) counts.finishes();
  if (pool.empty() || written_out_) {
    if (ending.orderly && !raise_count(counts.whole())) say_not_written(path_.c_str());
    return;
  }
  if (!ending.in_signal) {
    try {
      Status status = write_all(storage_);
      if (status.ok()) {
        clear_pool();
        if (!raise_count(counts.whole()))
          status = from_errno(errno, "cannot write the number of records of " + path_);
      }
      if (!status.ok()) warn_once("as the program ended: " + status.message());
      return;
    } catch (const std::bad_alloc&) {  // of a message
    }
  }
  // A thread may be walking the requests, and cannot be waited for.
  const bool well =
      !(in_use_ && Section::crowded()) && write_out_in_signal(file_.descriptor(), file_.system().local, pool);
  if (well) {
    written_out_ = true;
    counts.written();
  }
  if (!well || !raise_count(counts.whole())) say_not_written(path_.c_str());
}

void WriteBehind::written_by_node(Ending ending) noexcept {
  if (ending.orderly) counts.finishes();
  if (!pool.empty() || !counts.keeping()) return;
  counts.written();
  if (!raise_count(counts.whole())) say_not_written(path_.c_str());
}

void WriteBehind::begin_meeting() noexcept {
  if (between_nodes_ == MPI_COMM_NULL) return;
  const bool well = (pool.empty() || written_out_) && !counts.keeping();
  met_ = {well ? 0 : -1, counts.together(), ~counts.alone()};
  if (MPI_Iallreduce(MPI_IN_PLACE, met_.data(), static_cast<int>(met_.size()), MPI_INT64_T, MPI_MIN,
                     between_nodes_, &meeting_) != MPI_SUCCESS)
    meeting_ = MPI_REQUEST_NULL;
}

// A rank that has ended otherwise does not come.
void WriteBehind::end_meeting() noexcept {
  if (meeting_ == MPI_REQUEST_NULL) return;
  const auto until = std::chrono::steady_clock::now() + kMostMeeting;
  int done = 0;
  while (MPI_Test(&meeting_, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (std::chrono::steady_clock::now() > until) return;
    sched_yield();
  }
  if (done != 0 && met_[0] == 0 && !raise_count(std::max(met_[1], ~met_[2]))) say_not_written(path_.c_str());
}

class WriteBehind::InUse {
 public:
  explicit InUse(WriteBehind& of) : of_(of) { of_.in_use_ = true; }
  ~InUse() { of_.in_use_ = false; }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  WriteBehind& of_;
};

// ---- collective ----

// One flush and its outcome on all ranks, which have met before and meet at its end.
Status CoreFile::State::run_flush(WindowUse& use, std::span<const Put> puts, Status mine, Extent hull,
                                  int shift) {
  if (!hull.empty()) {
    Status windowed_now = use.settle();
    if (windowed_now.ok()) {
      FlushRun run(flush_over(*use.get()), puts);
      windowed_now = run.run(hull.begin, shift);
    }
    mine.update(std::move(windowed_now));
  }
  return outcome(mine);
}

Status CoreFile::State::write_behind(std::span<const Put> puts, Status mine,
                                     std::span<std::int64_t> agree_max, bool flush) {
  WriteBehind& b = *behind;
  if (settings.storage == StorageKind::null) puts = {};
  bool keeps =
      !flush && b.rest == 0 && !twice() && mine.ok() && !b.overdue() && b.together.size() < kMostExtents;
  if (!flush && b.rest > 0) --b.rest;
  if (keeps) {
    const StageTimer timer(counters, Stage::pool);
    keeps = b.make_room() && b.pool.stage(puts, most_of_small_call(settings));
  }
  // What ranks have put by themselves is older.
  if (independent) {
    if (Status older = flush_node(); !older.ok()) {
      mine.update(std::move(older));
      b.pool.forget_staged();
      keeps = false;
      puts = {};
    }
  }
  WindowUse use(*this);
  Extent fresh{kNoOffset, 0};  // this rank's puts of this call
  Extent held{kNoOffset, 0};   // what it keeps from earlier ones
  std::int64_t alignment = std::min(kMostAlignment, layout.stripe_bytes() & -layout.stripe_bytes());
  for (const Put& put : puts) {
    const Extent each = put.cursor->hull();
    fresh = {std::min(fresh.begin, each.begin), std::max(fresh.end, each.end)};
    alignment = std::min(alignment, put.cursor->alignment());
  }
  if (!b.pool.empty()) {
    held = b.pool.hull();
    alignment = std::min(alignment, b.pool.alignment());
  }
  Agreement agreed;
  const auto fresh_begin = agreed.minimum(fresh.begin);
  const auto fresh_end = agreed.maximum(fresh.end);
  const auto held_begin = agreed.minimum(held.begin);
  const auto held_end = agreed.maximum(held.end);
  const auto least_alignment = agreed.minimum(alignment);
  const auto keep = agreed.all(mine.ok() && keeps);
  const auto collective = agreed.all(!b.alone);
  agreed.maxima(agree_max);
  {
    const StageTimer timer(counters, Stage::agree);
    use.agree(agreed);
  }
  fresh = {agreed[fresh_begin], agreed[fresh_end]};
  held = {agreed[held_begin], agreed[held_end]};
  const int shift = std::countr_zero(static_cast<std::uint64_t>(agreed[least_alignment]));

  // Bytes of a later call must win over those of an earlier one, whatever ranks they come from: in one flush
  // they would race, and also where each rank writes what it keeps as the program ends. So what is kept goes
  // first where the two may overlap. Where that comes every few calls, keeping costs more than it gains: the
  // next ones are not kept.
  const bool apart =
      b.together.overlaps(fresh) ||
      (!agreed[collective] && held.begin < fresh.end && fresh.begin < held.end);
  if (apart) {
    b.pool.forget_staged();
    ++counters.pool_conflicts;
    if (b.calls < kFewCalls) {
      b.rest = b.patience;
      b.patience = std::min(2 * b.patience, kMostRest);
    } else {
      b.patience = 1;
    }
    if (Status status = flush_all(use, {}, held, shift, {}); !status.ok()) return status;
    return flush_all(use, puts, fresh, shift, std::move(mine));
  }
  if (agreed[keep]) {
    ++counters.pooled_calls;
    counters.pooled_requests += static_cast<std::int64_t>(puts.size());
    b.keep();
    counters.pool_peak_bytes = std::max(counters.pool_peak_bytes, b.pool.peak_bytes());
    b.together.add(fresh);
    ++b.calls;
    return {};
  }
  b.pool.forget_staged();
  if (!b.together.empty()) b.patience = 1;
  const Extent hull{std::min(fresh.begin, held.begin), std::max(fresh.end, held.end)};
  return flush_all(use, puts, hull, shift, std::move(mine));
}

// What is kept, and `puts`, all of it within `hull` on all ranks.
Status CoreFile::State::flush_all(WindowUse& use, std::span<const Put> puts, Extent hull, int shift,
                                  Status mine) {
  WriteBehind& b = *behind;
  std::vector<Put> all;
  try {
    std::vector<Put> fresh(puts.begin(), puts.end());
    if (settings.bypass_bytes > 0 && mine.ok()) {
      const StageTimer timer(counters, Stage::write);
      mine = bypass.take_out(fresh, settings.bypass_bytes, layout.stripe_bytes(), *storage, counters);
    }
    b.pool.append_to(all);
    all.insert(all.end(), fresh.begin(), fresh.end());
  } catch (const std::bad_alloc&) {
    all.clear();
    mine.update({Code::no_memory, "no memory for a collective write to " + options.path});
  }
  {
    const WriteBehind::InUse in_use(b);
    if (Status status = run_flush(use, all, std::move(mine), hull, shift); !status.ok()) return status;
  }
  b.clear();
  return {};
}

// ---- independent ----

Status CoreFile::State::write_pool_alone() {
  WriteBehind& b = *behind;
  if (b.pool.empty()) return {};
  Status status;
  const Section section;
  const WriteBehind::InUse in_use(b);
  b.pool.for_each([&](const Put& put) {
    if (status.ok()) status = bypass.write(put, layout.stripe_bytes(), *storage, counters);
  });
  // What the others keep of collective calls stays theirs.
  if (status.ok()) b.clear_pool(), b.alone = false;
  return status;
}

Status CoreFile::State::write_behind_alone(std::span<const Put> puts) {
  WriteBehind& b = *behind;
  const auto keep = [&] {
    const StageTimer timer(counters, Stage::pool);
    if (twice() || b.overdue() || !b.pool.stage(puts)) return false;
    b.keep();
    b.alone = true;
    counters.pooled_requests += static_cast<std::int64_t>(puts.size());
    counters.pool_peak_bytes = std::max(counters.pool_peak_bytes, b.pool.peak_bytes());
    return true;
  };
  if (keep()) return {};
  if (Status status = write_pool_alone(); !status.ok()) return status;
  if (keep()) return {};
  Status status;
  for (const Put& put : puts) {
    status.update(bypass.write(put, layout.stripe_bytes(), *storage, counters));
    if (!status.ok()) break;
  }
  return status;
}

}  // namespace forebay
