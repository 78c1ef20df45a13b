// Keeping puts over many calls: each collective call decides in its one reduction whether all ranks keep
// theirs.
#include "engine/write_behind.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdlib>
#include <new>
#include <vector>

#include "engine/agreement.hpp"
#include "engine/file_state.hpp"
#include "engine/write_out.hpp"

namespace forebay {
namespace {

// As the least of each value, like those of a strict flush.
enum Agreed : std::size_t {
  kFirst,
  kEnd,
  kHeldFirst,
  kHeldEnd,
  kAlignment,
  kWell,
  kKeep,
  kTogether,
  kAgreed
};
static_assert(kAgreed + kMostAgreed <= NodeWindow::kMostAgreed);
constexpr std::int64_t kMostAlignment = 4096;
constexpr std::size_t kMostExtents = 4096;  // of the calls of an epoch
constexpr std::size_t kMostEpochs = 128;    // each costs a meeting in the rounds that it has a part in

std::int64_t bound_of(const Settings& settings) {
  return settings.pool_bytes > 0 ? settings.pool_bytes : settings.memory_bytes / 4;
}

std::string absolute(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  return ::realpath(path.c_str(), real.data()) != nullptr ? real.data() : path;
}

}  // namespace

WriteBehind::WriteBehind(const Settings& settings, const std::string& path, Storage& storage,
                         Counters& counters)
    : pool(bound_of(settings)),
      path_(absolute(path)),
      local_(local_file_system(path_)),
      storage_(storage),
      counters_(counters),
      most_age_(std::chrono::seconds(settings.commit_seconds)) {}

WriteBehind::~WriteBehind() {
  unwatch(*this);
}

void WriteBehind::keep() {
  const bool first = pool.empty();
  pool.keep();
  if (!first || pool.empty()) return;
  since_ = std::chrono::steady_clock::now();
  watch(*this);
}

void WriteBehind::clear() {
  pool.clear();
  epochs.clear();
  alone = false;
}

void WriteBehind::keep_together(const Extent& fresh, bool apart) {
  if (!fresh.empty() && (apart || epochs.empty())) epochs.push_back({pool.size(), {}});
  if (!fresh.empty()) epochs.back().together.add(fresh);
  keep();
}

bool WriteBehind::meets_last(const Extent& fresh) const {
  return !epochs.empty() && epochs.back().together.overlaps(fresh);
}

bool WriteBehind::meets_any(const Extent& fresh) const {
  return std::any_of(epochs.begin(), epochs.end(),
                     [&](const KeptEpoch& epoch) { return epoch.together.overlaps(fresh); });
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

void WriteBehind::write_out(bool in_signal) noexcept {
  if (pool.empty()) return;
  if (in_signal) {
    write_out_in_signal(path_.c_str(), local_, pool, count);
    return;
  }
  try {
    Status status = write_all(storage_);
    if (status.ok() && count.width > 0) status = raise_count(storage_, count);
    if (status.ok()) {
      pool.clear();
    } else {
      warn_once("as the program ended: " + status.message());
    }
  } catch (const std::bad_alloc&) {
    write_out_in_signal(path_.c_str(), local_, pool, count);
  }
}

// ---- collective ----

struct File::State::Agreement {
  Extent fresh;  ///< all ranks' puts of this call
  Extent held;   ///< what all ranks keep from earlier ones
  int shift = 0;
  bool well = false;
  bool keep = false;
  bool all_together = false;  ///< nobody keeps independent puts
};

File::State::Agreement File::State::agree_on_keeping(Window* window, std::span<const Put> puts,
                                                     const Status& mine, bool keeps,
                                                     std::span<std::int64_t> agree_max) {
  const StageTimer timer(counters, Stage::agree);
  std::array<std::int64_t, kAgreed + kMostAgreed> values{};
  Extent fresh{kNoOffset, 0};
  Extent held{kNoOffset, 0};
  std::int64_t alignment = std::min(kMostAlignment, layout.stripe_bytes() & -layout.stripe_bytes());
  for (const Put& put : puts) {
    const Extent hull = put.cursor->hull();
    fresh = {std::min(fresh.begin, hull.begin), std::max(fresh.end, hull.end)};
    alignment = std::min(alignment, put.cursor->alignment());
  }
  if (!behind->pool.empty()) {
    held = behind->pool.hull();
    alignment = std::min(alignment, behind->pool.alignment());
  }
  values[kFirst] = fresh.begin;
  values[kEnd] = ~fresh.end;
  values[kHeldFirst] = held.begin;
  values[kHeldEnd] = ~held.end;
  values[kAlignment] = alignment;
  values[kWell] = mine.ok() ? 0 : -1;
  values[kKeep] = keeps ? 0 : -1;
  values[kTogether] = behind->alone ? -1 : 0;
  for (std::size_t i = 0; i < agree_max.size(); ++i) values[kAgreed + i] = ~agree_max[i];
  agree_least(window, {values.data(), kAgreed + agree_max.size()});
  for (std::size_t i = 0; i < agree_max.size(); ++i) agree_max[i] = ~values[kAgreed + i];

  Agreement agreed;
  agreed.fresh = {values[kFirst], ~values[kEnd]};
  agreed.held = {values[kHeldFirst], ~values[kHeldEnd]};
  agreed.shift = std::countr_zero(static_cast<std::uint64_t>(values[kAlignment]));
  agreed.well = values[kWell] == 0;
  agreed.keep = agreed.well && values[kKeep] == 0;
  agreed.all_together = values[kTogether] == 0;
  return agreed;
}

// One flush and its outcome on all ranks, which have met before and meet at its end.
Status File::State::run_flush(Window* window, std::span<const Epoch> epochs, Status mine, int shift) {
  std::int64_t first = kNoOffset;
  for (const Epoch& epoch : epochs) {
    if (!epoch.hull.empty()) first = std::min(first, epoch.hull.begin);
  }
  if (first != kNoOffset && window != nullptr) {
    const Flush flush = flush_over(*window);
    FlushRun run(flush, epochs);
    mine.update(run.run(first, shift));
  }
  std::int64_t well = mine.ok() ? 0 : -1;
  {
    const StageTimer timer(counters, Stage::agree);
    agree_least(window, {&well, 1});
  }
  return well == 0 ? Status{} : spread_failure(comm.get(), mine);
}

Status File::State::write_behind(std::span<const Put> puts, Status mine, std::span<std::int64_t> agree_max,
                                 bool flush) {
  WriteBehind& b = *behind;
  if (settings.storage == StorageKind::null) puts = {};
  const bool full = b.epochs.size() >= kMostEpochs ||
                    (!b.epochs.empty() && b.epochs.back().together.size() >= kMostExtents);
  bool keeps = !flush && mine.ok() && !b.overdue() && !full;
  if (keeps) {
    const StageTimer timer(counters, Stage::pool);
    keeps = b.pool.stage(puts);
  }
  Window* window = nullptr;
  mine.update(nodes->window(layout.round_bytes(), window));
  const Agreement agreed = agree_on_keeping(window, puts, mine, keeps, agree_max);

  // Bytes of a later call must win over those of an earlier one, whatever ranks they come from; scattered
  // together they would race. On one node such calls are epochs, with a meeting between them in each round.
  // Between nodes a round's bytes are merged without regard to calls, and so what is kept goes first.
  const bool apart = b.meets_last(agreed.fresh);
  const bool mixed =
      !agreed.all_together && agreed.held.begin < agreed.fresh.end && agreed.fresh.begin < agreed.held.end;
  if (apart || mixed) ++counters.pool_conflicts;
  if (mixed || (apart && nodes->topology().nodes > 1)) {
    b.pool.forget_staged();
    if (Status status = flush_all(window, {}, {}, agreed, {}); !status.ok()) return status;
    if (agreed.keep) stage_again(puts);
  }
  if (agreed.keep) {
    ++counters.pooled_calls;
    counters.pooled_requests += static_cast<std::int64_t>(puts.size());
    b.keep_together(agreed.fresh, apart);
    counters.pool_peak_bytes = std::max(counters.pool_peak_bytes, b.pool.peak_bytes());
    return {};
  }
  b.pool.forget_staged();
  return flush_all(window, puts, agreed.fresh, agreed, std::move(mine));
}

// There was room before; should there be none now, this rank writes its puts by itself, for the others count
// on their being kept.
void File::State::stage_again(std::span<const Put> puts) {
  if (behind->pool.stage(puts)) return;
  Status status;
  for (const Put& put : puts) status.update(bypass.write(put, layout.stripe_bytes(), *storage, counters));
  deferred.update(std::move(status));
}

Extent File::State::epoch_hull(std::size_t e, Extent fresh, const Agreement& agreed) const {
  const auto& epochs = behind->epochs;
  // Independent puts lie anywhere.
  Extent hull = e < epochs.size() && agreed.all_together ? epochs[e].together.hull() : Extent{};
  if (!agreed.all_together || epochs.empty()) hull = agreed.held;
  if (e + 1 < epochs.size() || fresh.empty()) return hull;
  if (e + 1 == epochs.size() && behind->meets_last(fresh)) return hull;
  return hull.empty() ? fresh : Extent{std::min(hull.begin, fresh.begin), std::max(hull.end, fresh.end)};
}

// Writes what is kept, and with it `puts` of a call that puts something into `fresh`.
Status File::State::flush_all(Window* window, std::span<const Put> puts, Extent fresh,
                              const Agreement& agreed, Status mine) {
  WriteBehind& b = *behind;
  std::array<Epoch, kMostEpochs + 1> epochs;  // no memory is taken for what all ranks must have alike
  const std::size_t kept = b.epochs.size();
  const std::size_t count = std::max<std::size_t>(1, kept + (b.meets_last(fresh) ? 1 : 0));
  for (std::size_t e = 0; e < count; ++e) epochs[e].hull = epoch_hull(e, fresh, agreed);

  std::vector<Put> all;
  try {
    std::vector<Put> rest(puts.begin(), puts.end());
    if (settings.bypass_bytes > 0 && mine.ok() && !b.meets_any(fresh)) {
      const StageTimer timer(counters, Stage::write);
      mine = bypass.take_out(rest, settings.bypass_bytes, layout.stripe_bytes(), *storage, counters);
    }
    b.pool.append_to(all);
    const std::size_t fresh_first = all.size();
    all.insert(all.end(), rest.begin(), rest.end());
    const auto first_of = [&](std::size_t e) {
      return e == 0 ? 0 : e < kept ? b.epochs[e].first : e < count ? fresh_first : all.size();
    };
    for (std::size_t e = 0; e < count; ++e)
      epochs[e].puts = std::span(all).subspan(first_of(e), first_of(e + 1) - first_of(e));
  } catch (const std::bad_alloc&) {
    mine.update({Code::no_memory, "no memory for a collective write to " + options.path});
  }
  if (Status status = run_flush(window, {epochs.data(), count}, std::move(mine), agreed.shift); !status.ok())
    return status;
  b.clear();
  return {};
}

// ---- independent ----

Status File::State::write_pool_alone() {
  WriteBehind& b = *behind;
  if (b.pool.empty()) return {};
  Status status;
  b.pool.for_each([&](const Put& put) {
    if (status.ok()) status = bypass.write(put, layout.stripe_bytes(), *storage, counters);
  });
  // What the others keep of collective calls stays theirs.
  if (!status.ok()) return status;
  b.pool.clear();
  b.alone = false;
  for (KeptEpoch& epoch : b.epochs) epoch.first = 0;
  return {};
}

Status File::State::write_behind_alone(std::span<const Put> puts) {
  WriteBehind& b = *behind;
  const auto keep = [&] {
    const StageTimer timer(counters, Stage::pool);
    if (b.overdue() || !b.pool.stage(puts)) return false;
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
