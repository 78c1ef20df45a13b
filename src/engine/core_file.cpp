// One open file as its callers see it: counted, and handed on to whoever keeps bytes, reads or stores them.
#include "engine/core_file.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/collective.hpp"
#include "engine/file_context.hpp"
#include "engine/keep_nothing.hpp"
#include "engine/report_at_close.hpp"
#include "engine/timeline.hpp"
#include "ranks/agreement.hpp"

namespace forebay {
namespace {

// What the path through the library costs by itself: every request is walked, nothing is moved.
void discard(FileContext& f, std::span<const Put> puts) {
  const StageTimer timer(f.counters, Stage::walk);
  std::array<Run, 512> batch;
  for (const Put& put : puts) {
    put.cursor->start(f.layout.round_bytes());
    while (const std::size_t n = put.cursor->take(kNoOffset, batch)) {
      f.counters.pieces += static_cast<std::int64_t>(n);
      for (std::size_t i = 0; i < n; ++i) f.counters.bytes += batch[i].length;
    }
  }
}

}  // namespace

// Before a call is collective: whatever a rank lacks, the others do not wait for it.
CoreFile::CoreFile()
    : file_(std::make_unique<FileContext>()), keeper_(std::make_unique<KeepNothing>(*file_)) {}

// A driver that forgot to close loses its report, not its bytes.
CoreFile::~CoreFile() {
  file_->again.reset();
  if (!keeper_ || file_->storage == nullptr) return;
  if (const Status status = keeper_->flush_independent(); !status.ok()) warn_once(status.message());
}

Status CoreFile::write_all(std::span<const Put> puts, std::span<std::int64_t> agree_max, When when) {
  FileContext& f = *file_;
  const CollectiveCall call(about("collective write"));
  const TraceSpan span(f.counters, Span::collective_write);
  if (agree_max.size() > Agreement::kMostMaxima) return {Code::internal, "too many values to agree on"};
  ++f.counters.collective_flushes;
  std::vector<Put> live;
  Status mine;
  // Whatever this rank cannot do, the others wait for it below.
  try {
    live.reserve(puts.size());
    for (const Put& put : puts) {
      if (!put.cursor->hull().empty()) live.push_back(put);
    }
    f.counters.requests += static_cast<std::int64_t>(live.size());
    if (f.settings.storage == StorageKind::null) {
      discard(f, live);
      live.clear();
    }
  } catch (const std::bad_alloc&) {
    mine = f.no_memory("for a collective write to ");
    live.clear();
  }
  // What any rank has put by itself is older than this, also where its node holds it back; and what owners
  // write for others, these see.
  f.file.show_at_once(false);
  mine.update(f.file.show());
  Status status = keeper_->write_all(live, std::move(mine), agree_max, when);
  return keeper_->holds() ? status : f.shown(std::move(status));
}

Status CoreFile::write(std::span<const Put> puts, When when) {
  FileContext& f = *file_;
  const StageTimer timer(f.counters, keeper_->commits() ? Stage::pool : Stage::write);
  ++f.counters.independent_writes;
  f.counters.requests += static_cast<std::int64_t>(puts.size());
  if (f.settings.storage == StorageKind::null) {
    discard(f, puts);
    return {};
  }
  Status status = keeper_->write(puts, when);
  if (when == When::before_return) status.update(f.file.show());
  return status;
}

Status CoreFile::write_at(std::int64_t offset, const void* data, std::int64_t length, When when) {
  FileContext& f = *file_;
  const StageTimer timer(f.counters, Stage::write);
  f.counters.count_write(offset, length, f.layout.stripe_bytes());
  Status status = keeper_->write_at({offset, static_cast<const std::byte*>(data), length});
  if (when == When::before_return) status.update(f.file.show());
  return status;
}

Status CoreFile::read_all(std::span<const Get> gets) {
  const CollectiveCall call(about("collective read"));
  const TraceSpan span(file_->counters, Span::collective_read);
  ++file_->counters.collective_reads;
  file_->counters.gets += static_cast<std::int64_t>(gets.size());
  return collective_read(*file_, *keeper_, gets);
}

Status CoreFile::read(std::span<const Get> gets) {
  const StageTimer timer(file_->counters, Stage::read);
  file_->counters.gets += static_cast<std::int64_t>(gets.size());
  return keeper_->read(gets);
}

Status CoreFile::read_at(std::int64_t offset, void* data, std::int64_t length, Seen seen) {
  const StageTimer timer(file_->counters, Stage::read);
  if (seen == Seen::by_any) file_->file.look_anew();
  return keeper_->read_at(offset, static_cast<std::byte*>(data), length);
}

Status CoreFile::barrier_around_read() {
  if (!file_->options.mode.writes) return {};
  const CollectiveCall call(about("collective read"));
  Status status = keeper_->barrier_around_read();
  file_->deferred.update(file_->shown({}));
  return status;
}

Status CoreFile::flush_for(FlushFor why) {
  const CollectiveCall call(about("flush"));
  const TraceSpan span(file_->counters, Span::flush);
  file_->file.show_at_once(false);
  return file_->shown(keeper_->flush_for(why));
}

Status CoreFile::begin_direct_writes(bool collective) {
  Status status = collective ? flush() : Status{};
  status.update(keeper_->begin_direct_writes(collective));
  if (collective) file_->file.look_now();
  return status;
}

Status CoreFile::flush_independent() {
  return keeper_->flush_independent();
}
void CoreFile::begin_independent() {
  keeper_->begin_independent();
}
void CoreFile::end_independent() {
  keeper_->end_independent();
}
void CoreFile::end_direct_writes() {
  keeper_->end_direct_writes();
  file_->file.note_direct_writes();
}
void CoreFile::handle_given_away() {
  keeper_->handle_given_away();
  file_->file.note_direct_writes(true);
}
bool CoreFile::completes(std::span<const Put> puts) const {
  return keeper_->completes(puts);
}
void CoreFile::space_freed() {
  FileContext& f = *file_;
  keeper_->space_freed();
  if (!f.file.views_differ() || f.file.shows_at_once()) return;
  const CollectiveCall call(about("deletion"));
  f.deferred.update(f.shown({}));
  f.file.show_at_once(true);
}
void CoreFile::space_taken() {
  keeper_->space_taken();
  file_->file.show_at_once(false);
}
bool CoreFile::commits() const {
  return keeper_->commits();
}
bool CoreFile::hides() const {
  return keeper_->commits() || file_->file.views_differ();
}
bool CoreFile::holds() const {
  return keeper_->holds();
}
std::int64_t CoreFile::end_of_kept() const {
  return keeper_->end_of_kept();
}
bool CoreFile::survives() const {
  return keeper_->survives();
}
std::string CoreFile::mode_in_words() const {
  const Settings& settings = file_->settings;
  // By rank, collective writes lie in the memory of their rank; only independent ones are the node's.
  const bool in_part = settings.has_keeper && file_->options.keeping == Keeping::by_rank;
  const std::string mode = !commits()   ? "strict"
                           : survives() ? "commit, with a keeper process"
                           : in_part    ? "commit, with a keeper process for independent writes only"
                                        : "commit, without a keeper process";
  if (!settings.was_automatic) return mode;
  const bool lacks = (!commits() || !survives()) && !settings.has_keeper;
  return "automatic: " + mode + (lacks ? ", since no keeper process runs here" : "");
}
void CoreFile::count_at_exit(std::int64_t offset, int width, std::int64_t collective,
                             std::int64_t independent) {
  keeper_->count_at_exit(offset, width, collective, independent);
}
Level1Use CoreFile::level1(Level1Memory& shared) {
  return keeper_->level1(shared);
}
bool CoreFile::write_in_signal(std::int64_t offset, const std::byte* data, std::int64_t length) noexcept {
  return keeper_->write_in_signal({offset, data, length});
}

void CoreFile::barrier(const char* name) {
  const CollectiveCall call(about(name));
  file_->deferred.update(file_->file.show());
  file_->barrier();
  file_->file.look_now();  // the caller may go on by a way of its own: PnetCDF's enddef moves data
}

void CoreFile::note_direct_writes() {
  file_->file.note_direct_writes();
}

Status CoreFile::show_direct_writes() {
  file_->file.note_direct_writes();
  return file_->file.show();
}

Status CoreFile::begin_direct_reads(bool collective) {
  Status status = collective ? flush() : flush_independent();
  file_->file.look_now();
  return status;
}

void CoreFile::show_to_all(const char* name) {
  file_->file.note_direct_writes();
  if (file_->file.views_differ()) barrier(name);
}

Status CoreFile::size(std::int64_t& bytes) {
  Status status = file_->file.size(bytes);
  bytes = std::max(bytes, keeper_->end_of_kept());
  return status;
}

Status CoreFile::set_size(std::int64_t bytes) {
  const CollectiveCall call(about("change of size"));
  if (file_->settings.storage != StorageKind::posix) file_->barrier_for_mpi();
  // What another node holds back must not come after it.
  Status shown = file_->shown({});
  if (!shown.ok()) return shown;
  Status status = file_->outcome(file_->file.set_size(*file_->comm, bytes));
  file_->file.look_anew();
  return status;
}

void CoreFile::defer(Status failure) {
  file_->deferred.update(std::move(failure));
}

void CoreFile::tell_once(Status failure) {
  file_->untold.update(std::move(failure));
}

Status CoreFile::sync() {
  const CollectiveCall call(about("sync"));
  const TraceSpan span(file_->counters, Span::sync);
  const bool waits = keeper_->flush_waits();
  const Status flushed = flush_for(FlushFor::sync);
  if (!waits) file_->barrier();
  Status synced;
  if (!keeper_->syncs_in_log()) synced = file_->file.sync(file_->nodes->topology().local_rank == 0);
  Status status = file_->deferred;
  status.update(std::exchange(file_->untold, {}));
  status.update(flushed);
  status.update(std::move(synced));
  return file_->outcome(status);
}

Status CoreFile::close(std::int64_t* least) {
  FileContext& s = *file_;
  const CollectiveCall call(about("close"));
  std::optional<TraceSpan> span(std::in_place, s.counters, Span::close);
  Status status = std::move(s.deferred);
  s.deferred = {};
  status.update(std::exchange(s.untold, {}));
  status.update(flush_for(FlushFor::close));
  s.given_away.reset();
  s.again.reset();
  if (s.nodes->topology().local_rank == 0)
    s.counters.window_bytes = s.windowed ? s.nodes->window()->bytes : 0;
  std::shared_ptr<SegmentMemory> spare = keeper_->close();
  keeper_.reset();
  s.storage = nullptr;
  status.update(s.file.close_descriptor());
  // In one message with what becomes of the set of windows; and before MPI-IO closes its file, which waits
  // for all without a word. What that says late concerns only what was written through it.
  Agreement agreed;
  const Seat::Votes votes = s.seat.vote(agreed);
  const auto well = agreed.all(status.ok());
  const auto callers = agreed.minimum(least != nullptr ? *least : 0);
  s.agree(agreed);
  s.file.release_mark();
  if (least != nullptr) *least = agreed[callers];
  if (!agreed[well]) status = spread_failure(*s.comm, status);
  if (s.file.handle() != nullptr) {
    Status closed = s.file.close_handle();
    if (s.settings.storage == StorageKind::mpiio) closed = agree_outcome(*s.comm, closed);
    status.update(std::move(closed));
  }
  span.reset();
  if (!s.settings.trace.empty()) {
    if (const Status traced = trace_at_close(s); !traced.ok()) warn_once(traced.message());
  }
  if (!s.settings.stats.empty()) {
    if (const Status reported = report_at_close(s); !reported.ok()) warn_once(reported.message());
  }
  s.windowed = s.synced = false;
  s.nodes.reset();
  s.seat.leave_comm(std::move(s.comm));
  s.seat.leave(votes.goes(agreed), s.settings, std::move(spare));
  return status;
}

CollectiveCall::About CoreFile::about(const char* call) const {
  return file_->about(call);
}
const Communicator& CoreFile::comm() const {
  return *file_->comm;
}
CollectiveHandle* CoreFile::handle() const {
  return file_->file.handle();
}
std::string CoreFile::name_now() const {
  return file_->file.name_now();
}
int CoreFile::rank() const {
  return file_->comm->rank();
}
int CoreFile::ranks() const {
  return file_->comm->size();
}
int CoreFile::nodes() const {
  return file_->nodes->topology().nodes;
}
const std::string& CoreFile::path() const {
  return file_->options.path;
}
std::int64_t CoreFile::segment_bytes() const {
  return keeper_->segment_bytes();
}
const Settings& CoreFile::settings() const {
  return file_->settings;
}
Counters& CoreFile::counters() {
  return file_->counters;
}

}  // namespace forebay
