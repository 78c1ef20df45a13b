// The collective write and its agreements, independent access, and the report at close.
#include "engine/core_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "base/hints.hpp"
#include "engine/agreement.hpp"
#include "engine/file_state.hpp"
#include "engine/report_at_close.hpp"
#include "engine/window_use.hpp"
#include "engine/write_out.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

static_assert(Agreement::kMost == NodeWindow::kMostAgreed);
constexpr std::int64_t kMostAlignment = 4096;

}  // namespace

CoreFile::CoreFile() : state_(std::make_unique<State>()) {}

CoreFile::~CoreFile() {
  state_->again.reset();
  // A driver that forgot to close loses its report, not its bytes.
  if (state_->behind && state_->storage) {
    if (const Status status = state_->write_pool_alone(); !status.ok()) warn_once(status.message());
  }
  if (state_->on_node && state_->storage) {
    if (const Status status = state_->on_node->segments.drain(); !status.ok()) warn_once(status.message());
  }
  state_->on_node.reset();
  state_->behind.reset();
}

// What the path through the library costs by itself: every request is walked, nothing is moved.
void CoreFile::State::discard(std::span<const Put> puts) {
  const StageTimer timer(counters, Stage::walk);
  std::array<Run, 512> batch;
  for (const Put& put : puts) {
    put.cursor->start(layout.round_bytes());
    while (const std::size_t n = put.cursor->take(kNoOffset, batch)) {
      counters.pieces += static_cast<std::int64_t>(n);
      for (std::size_t i = 0; i < n; ++i) counters.bytes += batch[i].length;
    }
  }
}

Status CoreFile::write_all(std::span<const Put> puts, std::span<std::int64_t> agree_max, When when) {
  State& s = *state_;
  const mpi::CollectiveCall call(about("collective write"));
  if (agree_max.size() > Agreement::kMostMaxima) return {Code::internal, "too many values to agree on"};
  ++s.counters.collective_flushes;
  std::vector<Put> live;
  Status mine;
  // Whatever this rank cannot do, the others wait for it below.
  try {
    live.reserve(puts.size());
    for (const Put& put : puts) {
      if (!put.cursor->hull().empty()) live.push_back(put);
    }
    s.counters.requests += static_cast<std::int64_t>(live.size());
    if (s.settings.storage == StorageKind::null) {
      s.discard(live);
      live.clear();
    } else if (s.settings.bypass_bytes > 0 && !s.behind && !s.on_node) {
      const StageTimer timer(s.counters, Stage::write);
      // Others may still be in what they write by themselves.
      const Sieve::Passing passing(s.gate(), s.file.descriptor());
      mine =
          s.bypass.take_out(live, s.settings.bypass_bytes, s.layout.stripe_bytes(), *s.storage, s.counters);
    }
  } catch (const std::bad_alloc&) {
    mine = {Code::no_memory, "no memory for a collective write to " + s.options.path};
    live.clear();
  }

  if (s.behind) return s.write_behind(live, std::move(mine), agree_max, false);
  if (s.on_node) return s.write_all_on_node(live, std::move(mine), agree_max, when);
  return s.flush_together(live, std::move(mine), agree_max);
}

Status CoreFile::flush() {
  State& s = *state_;
  const mpi::CollectiveCall call(about("flush"));
  if (s.behind) return s.write_behind({}, {}, {}, true);
  return s.on_node ? s.flush_node() : Status{};
}

Status CoreFile::flush_alone() {
  State& s = *state_;
  Status status;
  if (s.behind) status = s.write_pool_alone();
  if (s.on_node) status.update(s.on_node->segments.drain());
  if (s.behind && status.ok()) s.behind->counts.written();
  return status;
}

void CoreFile::begin_independent() {
  State& s = *state_;
  if (s.behind && !s.on_node) s.keep_independent();
  s.independent = s.behind && s.on_node;
}

Status CoreFile::end_independent() {
  Status status = flush();
  if (status.ok()) state_->independent = false;
  return status;
}

Status CoreFile::begin_outside(bool together) {
  State& s = *state_;
  s.outside.emplace(s.gate(), s.file.descriptor());
  if (!s.on_node) return together ? flush() : flush_alone();
  Status status = together ? flush() : Status{};
  // Before others fill holes again, all know that somebody may be writing there.
  s.on_node->segments.write_past();
  if (together)
    MPI_Barrier(s.comm.get());
  else
    status = flush_alone();
  return status;
}

void CoreFile::end_outside() {
  state_->outside.reset();
  if (state_->on_node) state_->on_node->segments.written_past();
}

void CoreFile::handle_given_away() {
  State& s = *state_;
  if (s.on_node) s.on_node->segments.never_fill();
  if (!s.given_away) s.given_away.emplace(s.gate(), s.file.descriptor());
}

bool CoreFile::completes(std::span<const Put> puts) const {
  return state_->gate() != nullptr && !puts.empty() &&
         std::all_of(puts.begin(), puts.end(), [](const Put& put) { return Sieve::worth(*put.cursor); });
}

void CoreFile::space_freed() {
  State& s = *state_;
  if (!s.on_node || s.nodes->topology().nodes == 1 || s.on_node->resting) return;
  const mpi::CollectiveCall call(about("deletion"));
  s.meet_on_node();
  s.on_node->resting = true;
}

void CoreFile::space_taken() {
  if (state_->on_node) state_->on_node->resting = false;
}

bool CoreFile::commits() const {
  return state_->behind != nullptr || state_->on_node != nullptr;
}

bool CoreFile::holds() const {
  return state_->behind && !state_->behind->together.empty();
}

void CoreFile::count_at_exit(std::int64_t offset, int width, std::int64_t together, std::int64_t alone) {
  if (!state_->behind) return;
  state_->behind->counts.set_together(together);
  state_->behind->counts.set_alone(alone);
  state_->behind->count = {offset, width, 0};
}

bool CoreFile::write_in_signal(std::int64_t offset, const std::byte* data, std::int64_t length) noexcept {
  const Piece piece{offset, data, length};
  const int fd = descriptor();
  return state_->on_node ? state_->on_node->segments.write_past_in_signal(fd, piece) : pwrite_all(fd, piece);
}

// The collective part: agreement, rounds, outcome. `mine` is how this rank's own part stands so far.
Status CoreFile::State::flush_together(std::span<const Put> puts, Status mine,
                                       std::span<std::int64_t> agree_max) {
  Extent hull{kNoOffset, 0};
  std::int64_t alignment = std::min(kMostAlignment, layout.stripe_bytes() & -layout.stripe_bytes());
  for (const Put& put : puts) {
    const Extent each = put.cursor->hull();
    hull = {std::min(hull.begin, each.begin), std::max(hull.end, each.end)};
    alignment = std::min(alignment, put.cursor->alignment());
  }
  WindowUse use(*this);
  std::optional<FlushRun> run;
  if (use.get() != nullptr) run.emplace(flush_over(*use.get()), puts);
  const int shift = guess.shift();
  const bool guessing = run && guess.worth_it();
  // Ranks with data say where their round begins; -1 is a rank that could not guess.
  std::int64_t least_base = kNoOffset, most_base = ~kNoOffset;
  if (guessing) {
    const std::int64_t base = puts.empty() ? 0 : layout.round_begin(hull.begin);
    if (hull.end > base + layout.round_bytes() || alignment < std::int64_t{1} << shift) {
      least_base = -1;
    } else {
      run->guess(base, shift);
      if (!puts.empty()) least_base = most_base = base;
    }
  }
  Agreement agreed;
  const auto first = agreed.minimum(hull.begin);
  const auto end = agreed.maximum(hull.end);
  const auto least_alignment = agreed.minimum(alignment);
  const auto well = agreed.all(mine.ok() && (!run || run->status().ok()));
  const auto from = agreed.minimum(least_base);
  const auto to = agreed.maximum(most_base);
  agreed.maxima(agree_max);
  {
    const StageTimer timer(counters, Stage::agree);
    use.agree(agreed);
  }

  bool all_well = agreed[well];
  if (agreed[first] != kNoOffset) {
    const bool guessed = guessing && agreed[from] >= 0 && agreed[from] == agreed[to];
    const int agreed_shift = std::countr_zero(static_cast<std::uint64_t>(agreed[least_alignment]));
    guess.learn(guessing, guessed, agreed_shift);
    Status flushed = use.settle();
    if (flushed.ok() && use.moved()) {
      if (run) run->forget_guess();
      run.emplace(flush_over(*use.get()), puts);
    }
    if (flushed.ok()) {
      flushed = guessed && !use.moved() ? run->run_guessed(agreed[from], {agreed[first], agreed[end]})
                                        : run->run(agreed[first], agreed_shift);
    }
    if (!flushed.ok()) all_well = false;
    mine.update(flushed);
    if (nodes->topology().nodes > 1) {
      const StageTimer timer(counters, Stage::agree);
      int well = all_well ? 1 : 0;
      mpi::allreduce(&well, 1, MPI_INT, MPI_MIN, comm.get());
      all_well = well != 0;
    }
  }
  if (all_well) return {};
  return spread_failure(comm.get(), mine);
}

void CoreFile::State::agree(std::span<std::int64_t> least, std::span<std::int64_t> sums,
                            const std::function<void()>& meanwhile) {
  if (NodeWindow* const meeting = windowed ? seat.meeting() : nullptr; meeting != nullptr) {
    // On one node memory is faster than a message, several times over where ranks share cores.
    meeting->agree(least, sums, meanwhile);
  } else {
    // What was scattered on a guess is in memory before the others learn of it.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    mpi::start_allreduce(least, MPI_MIN, comm.get(), requests[0]);
    if (!sums.empty()) mpi::start_allreduce(sums, MPI_SUM, comm.get(), requests[1]);
    if (meanwhile) meanwhile();
    for (MPI_Request& request : requests) mpi::wait(request);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  mpi::CollectiveCall::all_have_come();
}

void CoreFile::State::agree(Agreement& agreement, const std::function<void()>& meanwhile) {
  agree(agreement.least(), agreement.sums(), meanwhile);
  agreement.reduced();
}

Status CoreFile::State::outcome(const Status& mine) {
  Agreement agreed;
  const auto well = agreed.all(mine.ok());
  {
    const StageTimer timer(counters, Stage::agree);
    agree(agreed);
  }
  return agreed[well] ? Status{} : spread_failure(comm.get(), mine);
}

Flush CoreFile::State::flush_over(Window& window) {
  const Topology& t = nodes->topology();
  Flush flush{*window.view, layout, *storage, counters, window.scratch, window.sequence};
  flush.rail = nodes->rail(settings.link);
  flush.node = t.node;
  flush.nodes = t.nodes;
  flush.aggregator = t.rail;
  flush.fill_holes = readable && file.fills_holes();
  flush.mark = file.mark();
  return flush;
}

Status CoreFile::write(std::span<const Put> puts, When when) {
  State& s = *state_;
  const StageTimer timer(s.counters, Stage::write);
  ++s.counters.independent_writes;
  s.counters.requests += static_cast<std::int64_t>(puts.size());
  if (s.settings.storage == StorageKind::null) {
    s.discard(puts);
    return {};
  }
  if (s.behind && s.on_node) {
    // What this rank keeps of earlier calls is older.
    if (Status status = s.write_pool_alone(); !status.ok()) return status;
    s.on_node->be_watched();
    s.behind->counts.keeps();
  } else if (s.behind) {
    return s.write_behind_alone(puts);
  }
  if (s.on_node) return s.write_alone_on_node(puts, when);
  return s.write_strictly(puts);
}

NodeWindow* CoreFile::State::gate() const {
  if (behind || on_node || !readable || file.descriptor() < 0 || !file.fills_holes() ||
      settings.storage != StorageKind::posix || nodes->topology().nodes > 1)
    return nullptr;
  return windowed ? seat.meeting() : nullptr;
}

Status CoreFile::State::write_strictly(std::span<const Put> puts) {
  NodeWindow* const meeting = gate();
  if (meeting == nullptr) return write_now(puts);
  const std::int64_t stripe = layout.stripe_bytes();
  Status status;
  try {
    for (const Put& put : puts) {
      if (!status.ok()) break;
      if (!given_away && Sieve::worth(*put.cursor) &&
          sieve.write(put, file.descriptor(), *meeting, file.mark(), *storage, stripe, counters, status))
        continue;
      const Sieve::Passing passing(meeting, file.descriptor());
      status = bypass.write(put, stripe, *storage, counters);
    }
  } catch (const std::bad_alloc&) {
    status = {Code::no_memory, "no memory for a write to " + options.path};
  }
  return status;
}

Status CoreFile::State::write_now(std::span<const Put> puts) {
  Status status;
  for (const Put& put : puts) {
    status.update(bypass.write(put, layout.stripe_bytes(), *storage, counters));
    if (!status.ok()) break;
  }
  return status;
}

Status CoreFile::write_at(std::int64_t offset, const void* data, std::int64_t length) {
  State& s = *state_;
  const StageTimer timer(s.counters, Stage::write);
  const Piece piece{offset, static_cast<const std::byte*>(data), length};
  s.counters.count_write(offset, length, s.layout.stripe_bytes());
  if (s.on_node) s.on_node->segments.discard({offset, offset + length});
  const Sieve::Passing passing(s.gate(), s.file.descriptor());
  Status status = s.storage->write({&piece, 1});
  if (s.on_node) s.on_node->segments.written_past();
  return status;
}

void CoreFile::meet() {
  State& s = *state_;
  if ((s.options.amode & MPI_MODE_RDONLY) != 0) return;
  const mpi::CollectiveCall call(about("collective read"));
  if (s.on_node) return s.meet_on_node();
  s.arrive();
}

void CoreFile::arrive(const char* name) {
  const mpi::CollectiveCall call(about(name));
  state_->arrive();
}

void CoreFile::State::arrive() {
  const StageTimer timer(counters, Stage::agree);
  if (NodeWindow* const meeting = windowed ? seat.meeting() : nullptr; meeting != nullptr)
    meeting->barrier();
  else
    mpi::barrier(comm.get());
  mpi::CollectiveCall::all_have_come();
}

// MPI-IO's collective calls wait without a word.
void CoreFile::State::arrive_for_mpi() {
  if (file.handle() != MPI_FILE_NULL) arrive();
}

Status CoreFile::size(std::int64_t& bytes) {
  return state_->file.size(bytes);
}

Status CoreFile::set_size(std::int64_t bytes) {
  const mpi::CollectiveCall call(about("change of size"));
  state_->arrive_for_mpi();
  return agree_outcome(state_->comm.get(), state_->file.set_size(state_->comm.get(), bytes));
}

void CoreFile::defer(Status failure) {
  state_->deferred.update(std::move(failure));
}

Status CoreFile::sync() {
  const mpi::CollectiveCall call(about("sync"));
  const Status flushed = flush();
  state_->arrive_for_mpi();
  Status synced = state_->file.sync();
  Status status = state_->deferred;
  status.update(flushed);
  status.update(std::move(synced));
  return agree_outcome(state_->comm.get(), status);
}

Status CoreFile::close(std::int64_t* least) {
  State& s = *state_;
  const mpi::CollectiveCall call(about("close"));
  Status status = std::move(s.deferred);
  s.deferred = {};
  status.update(flush());
  s.outside.reset();
  s.given_away.reset();
  s.again.reset();
  std::shared_ptr<SegmentMemory> spare;
  if (s.on_node) spare = s.on_node->memory();
  if (s.nodes->topology().local_rank == 0) {
    s.counters.window_bytes = s.windowed ? s.nodes->window()->bytes : 0;
    s.counters.segment_bytes = spare ? static_cast<std::int64_t>(spare->bytes) : 0;
  }
  if (s.memory_is_short) spare.reset();
  s.on_node.reset();
  s.behind.reset();
  s.storage = nullptr;
  status.update(s.file.close_descriptor());
  // In one message with what becomes of the set of windows; and before MPI-IO closes its file, which waits
  // for all without a word. What that says late concerns only what was written through it.
  const auto vote = s.seat.vote();
  enum : std::size_t { kWell = Seat::kVotes, kLeast, kCount };
  std::array<std::int64_t, kCount> values{};
  std::copy(vote.begin(), vote.end(), values.begin());
  values[kWell] = status.ok() ? 0 : -1;
  values[kLeast] = least != nullptr ? *least : 0;
  mpi::allreduce(values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MIN, s.comm.get());
  s.file.release_mark();
  if (least != nullptr) *least = values[kLeast];
  if (values[kWell] != 0) status = spread_failure(s.comm.get(), status);
  if (s.file.handle() != MPI_FILE_NULL) {
    Status closed = s.file.close_handle();
    if (s.settings.storage == StorageKind::mpiio) closed = agree_outcome(s.comm.get(), closed);
    status.update(std::move(closed));
  }
  if (!s.settings.stats.empty()) {
    ReportFacts facts{s.reported_path, s.options.driver,        s.settings,
                      s.file,          s.layout.stripe_bytes(), s.layout.round_bytes()};
    if (const Status reported = report_at_close(s.comm.get(), facts, *s.nodes, s.counters); !reported.ok()) {
      warn_once(reported.message());
    }
  }
  s.windowed = false;
  s.nodes.reset();
  s.seat.leave_comm(std::move(s.comm));
  s.seat.leave(values, s.settings, std::move(spare));
  return status;
}

mpi::CollectiveCall::About CoreFile::about(const char* call) const {
  return {call, state_->options.path, state_->comm.get(), state_->comm.get(),
          state_->settings.patience_seconds};
}
MPI_Comm CoreFile::comm() const {
  return state_->comm.get();
}
MPI_File CoreFile::handle() const {
  return state_->file.handle();
}
int CoreFile::descriptor() const {
  return state_->file.descriptor();
}
int CoreFile::rank() const {
  return mpi::rank(state_->comm.get());
}
int CoreFile::ranks() const {
  return mpi::size(state_->comm.get());
}
int CoreFile::nodes() const {
  return state_->nodes->topology().nodes;
}
const std::string& CoreFile::path() const {
  return state_->options.path;
}
std::int64_t CoreFile::segment_bytes() const {
  const State& s = *state_;
  if (s.on_node) return s.on_node->segments.segment_bytes();
  return KeptOnNode::choose_segment_bytes(s.settings, s.layout, s.nodes->topology().local_ranks);
}
const Settings& CoreFile::settings() const {
  return state_->settings;
}
Counters& CoreFile::counters() {
  return state_->counters;
}

}  // namespace forebay
