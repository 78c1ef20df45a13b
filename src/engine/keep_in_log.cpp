#include "engine/keep_in_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/host_name.hpp"
#include "base/speaker.hpp"
#include "base/waiting.hpp"
#include "engine/closed_in_background.hpp"
#include "engine/collective.hpp"
#include "engine/file_context.hpp"
#include "engine/reach.hpp"
#include "keeper/connection.hpp"
#include "log/leftover.hpp"
#include "log/logged_storage.hpp"
#include "ranks/agreement.hpp"
#include "ranks/collective_call.hpp"
#include "storage/emergency_writer.hpp"

namespace forebay {
namespace {

// How long the keeper process may take to take over a log.
constexpr long kLook = 100'000;  // nanoseconds
constexpr int kMostLooks = 20'000;
constexpr int kMostDrainers = 4;
constexpr std::int64_t kBatchOfOne = 8 << 20;
// For what other nodes have in their logs.
constexpr long kLongestNap = 50'000'000;  // nanoseconds
constexpr int kLeastPatience = 10;        // seconds
constexpr std::size_t kMostHeld = 64;

// From the root folder: the keeper process has another one.
std::string whole_name(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(name.c_str(), nullptr), &std::free);
  return real ? real.get() : name;
}

/// The log as a file that takes more and more.
class Gathering final : public Storage {
 public:
  Gathering(NodeLog& log, Storage& below) : log_(log), below_(below) {}
  Status write(std::span<const Piece> pieces) override { return log_.gather(pieces, below_); }
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    return below_.read(offset, data, length);
  }

 private:
  NodeLog& log_;
  Storage& below_;
};

/// As ranks tell each other.
struct LogName {
  std::array<char, 256> host;
  std::array<char, 2048> name;
};

// Rank 0 finds out whether another open file has one.
Status make_log(FileContext& file, std::int64_t generation, LogName& out) {
  const Topology& t = file.nodes->topology();
  NodeLog::Wish wish;
  wish.folder = whole_name(file.settings.log);
  wish.path = whole_name(file.file.name_now());
  std::vector<MarkedLog> others;
  if (file.comm->rank() == 0 && read_mark(mark_of(wish.path), others))
    return {Code::unsupported, "another open file has a log of it"};
  if (!file.file.identity(wish.file)) return {Code::unsupported, "it cannot be told which file it is"};
  wish.generation = generation;
  wish.node = t.node;
  wish.nodes = t.nodes;
  wish.stripe_bytes = file.layout.stripe_bytes();
  // Other nodes write between what this one has.
  wish.fills_holes = t.nodes == 1 && file.readable && file.file.fills_holes() && file.file.mark() != nullptr;
  wish.mark = file.file.mark_number();
  wish.capacity = file.settings.log_bytes;
  wish.ranks = t.local_ranks;
  if (file.options.level1) wish.level1 = choose_segment_bytes(file.settings, file.layout, t.local_ranks);
  std::string made;
  if (Status status = NodeLog::create(wish, made); !status.ok()) return status;
  if (made.size() >= out.name.size()) {
    ::unlink(made.c_str());
    return {Code::bad_argument, "the name of " + wish.folder + " is too long for a log"};
  }
  made.copy(out.name.data(), out.name.size() - 1);
  host_name().copy(out.host.data(), out.host.size() - 1);
  return {};
}

Extent both(const Extent& a, const Extent& b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

bool meet(const Extent& a, const Extent& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

// ---- from open to close ----

KeepInLog::KeepInLog(FileContext& file, std::unique_ptr<NodeLog> log)
    : Keeper(file),
      log_(std::move(log)),
      logged_(make_logged_storage(file.file.storage(), *log_)),
      below_(file.file.storage()),
      several_(file.nodes->topology().nodes > 1) {}

Status KeepInLog::create(FileContext& file, std::unique_ptr<Keeper>& out) {
  const Topology& t = file.nodes->topology();
  const bool first = t.local_rank == 0;
  std::int64_t generation = OpenMark::any_number();
  Status status;
  if (!file.comm->broadcast(&generation, sizeof generation, 0)) status = {Code::mpi, "the ranks are cut off"};
  LogName name{};
  if (first && status.ok()) status = make_log(file, generation, name);
  // Before there is anything in a log, the mark names all of them.
  std::vector<LogName> names{name};
  if (t.nodes > 1) {
    if (const auto firsts = file.comm->split(first ? 0 : -1, file.comm->rank())) {
      names.resize(static_cast<std::size_t>(firsts->size()));
      firsts->gather(&name, sizeof name, names.data(), 0);
    }
  }
  if (file.comm->rank() == 0) {
    std::vector<MarkedLog> logs;
    for (const LogName& each : names) {
      if (each.name.front() != '\0') logs.push_back({each.host.data(), each.name.data(), false});
    }
    if (status.ok()) status = write_mark(whole_name(file.file.name_now()), logs);
  }
  t.node_comm->broadcast(&name, sizeof name, 0);
  std::unique_ptr<KeepInLog> keeper;
  if (status.ok() && name.name.front() == '\0') status = {Code::peer, "the node's first rank has no log"};
  if (status.ok()) {
    std::unique_ptr<NodeLog> log;
    status = NodeLog::attach(name.name.data(), t.local_rank, log);
    try {
      if (status.ok()) keeper.reset(new KeepInLog(file, std::move(log)));
    } catch (const std::bad_alloc&) {
      status = file.no_memory("for the log of ");
    }
  }
  if (Status agreed = agree_outcome(*file.comm, status); !agreed.ok()) {
    if (first && name.name.front() != '\0') ::unlink(name.name.data());
    if (file.comm->rank() == 0 && names.front().name.front() != '\0')
      remove_mark(whole_name(file.file.name_now()));
    return status.ok() ? agreed : status;
  }
  file.storage = keeper->logged_.get();
  keeper->tell_keeper();
  keeper->all_served_ = keeper->several_ ? file.comm->all(keeper->served_ != 0) : keeper->served_ != 0;
  // HDF5. Without a process that drains on each node, nobody could wait for that.
  keeper->reads_alone_ = keeper->several_ && file.options.keeping != Keeping::by_rank &&
                         keeper->all_served_ && file.settings.drain == Drain::background &&
                         !file.file.views_differ();
  if (keeper->reads_alone_ && first)
    keeper->log_->set_mark_at(place_in_mark(keeper->log_->identity().path, keeper->log_->name()));
  out = std::move(keeper);
  return {};
}

// A process of the node drains it, or sees to it when all ranks have ended.
void KeepInLog::tell_keeper() {
  FileContext& f = file_;
  const Topology& t = f.nodes->topology();
  // Never both ways into one file.
  if (t.node_comm->shares_heap() || f.settings.storage != StorageKind::posix) return;
  const bool background = f.settings.drain == Drain::background;
  const KeeperUse use =
      background && f.settings.keeper == KeeperUse::automatic ? KeeperUse::start : f.settings.keeper;
  const bool first = t.local_rank == 0;
  if (first && connect_keeper(use, true) != 0)
    served_ = serve_log(f.file.descriptor(), log_->name(), background);
  // Whoever finds the log later has to see that somebody is at it.
  bool heard = false;
  for (int i = 0; i < kMostLooks && first && served_ != 0 && !(heard = log_->has_drainer()); ++i)
    sleep_for(kLook);
  if (!heard) served_ = 0;
  t.node_comm->broadcast(&served_, sizeof served_, 0);
  if (served_ != 0 && connect_keeper(use, false) != 0) log_->when_needed([] { wake_keeper(); });
  if (background && served_ == 0 && first)
    warn_few("forebay_drain=background, but no keeper process runs here",
             f.options.path + " is written at a flush");
}

KeepInLog::~KeepInLog() {
  unwatch(*this);
}

bool KeepInLog::closes_in_background() const {
  return file_.settings.log_close == LogClose::background && all_served_;
}

std::shared_ptr<SegmentMemory> KeepInLog::close() {
  const bool first = file_.nodes->topology().local_rank == 0;
  file_.storage = &below_;
  unwatch(*this);
  count(first);
  // Where nothing is left anywhere, not each node writes so into the mark.
  bool all_empty = false;
  if (several_ && !closes_in_background()) {
    all_empty = file_.comm->all(log_->empty());
    if (all_empty && file_.comm->rank() == 0) remove_mark(log_->identity().path);
  }
  if (!first) return nullptr;
  if (!log_->empty() && closes_in_background()) {
    leave_to_keeper();
    return nullptr;
  }
  if (served_ != 0) log_served_no_more(served_, false);
  if (all_empty)
    ::unlink(log_->name().c_str());
  else if (log_->empty())
    remove_log(*log_);
  else
    warn_once(std::to_string(log_->pending()) + " bytes of " + file_.options.path +
              " are not in it, but in " + log_->name() + ". Once it can be written, type: forebay recover " +
              file_.options.path);
  return nullptr;
}

void KeepInLog::count(bool first) {
  const NodeLog::Figures& figures = log_->figures();
  Counters& c = file_.counters;
  c.log_appends = figures.appends;
  c.log_bytes = figures.bytes;
  c.log_drained_bytes = figures.drained_bytes;
  c.log_full_waits = figures.full_waits;
  c.log_full_wait_microseconds = figures.full_wait_microseconds;
  c.log_past_bytes += figures.past_bytes;
  if (first) c.log_left_bytes = log_->pending();
}

void KeepInLog::leave_to_keeper() {
  ClosedFile closed;
  closed.at = std::chrono::steady_clock::now();
  closed.file = Descriptor(::fcntl(file_.file.descriptor(), F_DUPFD_CLOEXEC, 0));
  bool waits = false;
  try {
    // The storage over this one goes later. And before the keeper process hears of it, which may be done at
    // once.
    waits = closed.file.number() >= 0 && NodeLog::attach(log_->name(), -1, closed.log).ok();
    closed.path = file_.options.path;
    closed.report = {file_.settings.stats, file_.reported_path, file_.options.driver};
    closed.tells = file_.comm->rank() == 0 && verbose();
  } catch (const std::bad_alloc&) {  // the keeper process needs nobody
    waits = false;
  }
  log_served_no_more(served_, true);
  log_->leave();
  try {
    if (waits) wait_at_the_end(std::move(closed));
  } catch (const std::bad_alloc&) {
  }
}

// ---- writes ----

Status KeepInLog::write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                            When /*when*/) {
  FileContext& f = file_;
  be_watched();
  paused_ = false;
  if (several_) {
    const bool through = f.options.keeping != Keeping::by_rank && !reads_alone_;
    if (Status older = put_older_first(puts, mine, agree_max, through); !older.ok()) return older;
    agree_max = {};
    // HDF5 reads back what ranks wrote together, each rank by itself, where a dataset shrinks or is copied.
    if (through) {
      f.storage = &below_;
      const std::int64_t before = f.counters.written_bytes;
      Status status = write_together(puts, std::move(mine), {});
      f.counters.log_past_bytes += f.counters.written_bytes - before;
      f.storage = logged_.get();
      return status;
    }
  }
  holds_ = true;
  Status status = seen(write_together(puts, std::move(mine), agree_max));
  if (reads_alone_ && f.nodes->topology().local_rank == 0) {
    log_->seal(calls_);
    wake_keeper();
  }
  return status;
}

Status KeepInLog::write_together(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max) {
  FileContext& f = file_;
  if (f.long_run() > 0 && mine.ok()) {
    try {
      const StageTimer timer(f.counters, Stage::write);
      mine = f.bypass.take_out(puts, f.long_run(), f.layout.stripe_bytes(), *f.storage, f.counters);
    } catch (const std::bad_alloc&) {
      mine = f.no_memory("for a collective write to ");
      puts.clear();
    }
  }
  return collective_write(f, puts, std::move(mine), agree_max);
}

// Of several nodes. Bytes that come to the log which has the older ones of their place come after these. Long
// runs and nodes' own parts of the file go to the logs of whoever has them; so do the first few calls' runs.
// `through`: these bytes go to the file, after all that is older.
Status KeepInLog::put_older_first(std::span<const Put> puts, Status& mine, std::span<std::int64_t> agree_max,
                                  bool through) {
  FileContext& f = file_;
  const Reach reach(f.layout, puts);
  bool any_long = false;
  try {
    for (const Put& put : puts) any_long |= f.long_run() > 0 && Bypass::is_long(*put.cursor, f.long_run());
  } catch (const std::bad_alloc&) {
    mine.update(f.no_memory("for a collective write to "));
  }
  Agreement agreed;
  const auto begin = agreed.minimum(reach.hull.begin);
  const auto end = agreed.maximum(reach.hull.end);
  const auto own_begin = agreed.minimum(own_.begin);
  const auto own_end = agreed.maximum(own_.end);
  const auto some_long = agreed.any(any_long), some_logged = agreed.any(!log_->empty());
  agreed.maxima(agree_max);
  f.agree(agreed);
  if (through) return agreed[some_logged] ? flush() : Status{};
  const Extent hull{agreed[begin], agreed[end]};
  const Extent own{agreed[own_begin], agreed[own_end]};
  if (!agreed[some_logged]) forget_logged();
  const bool goes_loose =
      agreed[some_long] || !f.windowed || (f.may_have_own_parts(hull) && f.own_parts.worth_it());
  if (meet(hull, own) || meet(hull, loose_) || (goes_loose && meet(hull, by_owners_))) {
    ++f.counters.log_conflicts;
    if (Status older = flush(); !older.ok()) return older;
  }
  Extent& grown = goes_loose ? loose_ : by_owners_;
  grown = both(grown, hull);
  if (!reads_alone_ || hull.empty()) return {};
  ++calls_;
  if (held_.size() >= kMostHeld)
    held_.back() = {both(held_.back().hull, hull), calls_};
  else
    held_.push_back({hull, calls_});
  return {};
}

void KeepInLog::forget_logged() {
  by_owners_ = loose_ = own_ = kNothing;
  held_.clear();
}

// A rank alone reads or writes what all have written together: not before it is in the file.
Status KeepInLog::wait_for_others(const Extent& place) {
  std::int64_t call = 0;
  for (const Held& held : held_) {
    if (meet(held.hull, place)) call = std::max(call, held.call);
  }
  if (call == 0) return {};
  const FileContext& f = file_;
  if (Status mine = log_->drain_all(below_); !mine.ok()) return mine;
  tell_drained(*log_);
  const std::chrono::seconds patience(std::max(f.settings.patience_seconds, kLeastPatience));
  std::int64_t before = -1;
  auto since = now();
  for (long nap = kLook;; nap = std::min(2 * nap, kLongestNap)) {
    std::string last;
    const std::int64_t drained = drained_everywhere(log_->identity().path, last);
    std::erase_if(held_, [&](const Held& held) { return held.call <= drained; });
    if (drained >= call) return {};
    if (drained != before) since = now();
    before = drained;
    if (now() - since > patience)
      return {Code::peer, "bytes of " + f.options.path + " are in the log " + last +
                              ", where nobody has written them into the file for " +
                              std::to_string(patience.count()) + " s"};
    sleep_for(nap);
  }
}

// Where this process has the file open once more, it is to see that.
Status KeepInLog::seen(Status status) {
  return status.ok() && file_.twice() ? log_->drain_all(below_) : status;
}

Status KeepInLog::write(std::span<const Put> puts, When when) {
  FileContext& f = file_;
  be_watched();
  for (const Put& put : puts) {
    if (Status older = wait_for_others(put.cursor->hull()); !older.ok()) return older;
  }
  if (!freed_.ok()) return freed_;
  if (several_ && (paused_ || when == When::before_return)) {
    const StageTimer timer(f.counters, Stage::write);
    if (Status older = log_->drain_all(below_); !older.ok()) return older;
    Status status;
    const std::int64_t before = f.counters.written_bytes;
    for (const Put& put : puts) {
      if (status.ok()) status = f.bypass.write(put, f.layout.stripe_bytes(), below_, f.counters);
    }
    f.counters.log_past_bytes += f.counters.written_bytes - before;
    return status;
  }
  for (const Put& put : puts) own_ = both(own_, put.cursor->hull());
  // Short runs become few appends.
  Gathering gathering(*log_, below_);
  Status status;
  try {
    const std::int64_t appends = log_->appends();
    Counters counters;
    for (const Put& put : puts) {
      if (status.ok()) status = f.bypass.write(put, f.layout.stripe_bytes(), gathering, counters);
    }
    if (status.ok()) status = log_->put_gathered(below_);
    f.counters.pieces += counters.pieces;
    f.counters.bytes += counters.bytes;
    f.counters.written_bytes += counters.written_bytes;
    f.counters.writes += log_->appends() - appends;
  } catch (const std::bad_alloc&) {
    status.update(f.no_memory("for a write to "));
  }
  return seen(std::move(status));
}

// PnetCDF's own driver writes its header past this, where that comes between; rank 0 alone does. HDF5's
// metadata are read by ranks of all nodes.
Status KeepInLog::write_at(const Piece& piece) {
  be_watched();
  if (several_ && file_.options.keeping != Keeping::by_rank) {
    if (!freed_.ok()) return freed_;
    Status older = wait_for_others({piece.offset, piece.offset + piece.length});
    if (older.ok()) older = log_->drain_all(below_);
    if (!older.ok()) return older;
    file_.counters.log_past_bytes += piece.length;
    return below_.write({&piece, 1});
  }
  Status status = logged_->write({&piece, 1});
  if (status.ok() && file_.options.keeping == Keeping::by_rank && !holds_) status = log_->drain_all(below_);
  return seen(std::move(status));
}

std::int64_t KeepInLog::segment_bytes() const {
  const std::int64_t level1 = log_->identity().level1;
  return level1 > 0 ? level1 : Keeper::segment_bytes();
}

// What a rank holds back for itself outlives it, too.
Level1Use KeepInLog::level1(Level1Memory& shared) {
  return !file_.twice() && log_->level1(shared) ? Level1Use::shared : Level1Use::none;
}

// ---- into the file ----

Status KeepInLog::flush() {
  FileContext& f = file_;
  watching_ = false;  // a program may have set signal handlers by the next put
  paused_ = false;
  Agreement agreed;
  const auto some = agreed.any(!log_->empty());
  f.agree(agreed);
  Status status;
  if (agreed[some]) status = f.outcome(drain_together());
  if (status.ok()) {
    holds_ = false;
    forget_logged();
    freed_ = {};
  }
  return status;
}

// The node's first ranks write, each other stripes: one alone would take longer than the collective writes
// that put all this there. All of the node are here, so nothing is appended meanwhile.
Status KeepInLog::drain_together() {
  const StageTimer timer(file_.counters, Stage::write);
  const Topology& t = file_.nodes->topology();
  const int drainers = std::min(t.local_ranks, kMostDrainers);
  const bool first = t.local_rank == 0;
  if (drainers == 1) return log_->drain_all(below_);
  Status status;
  if (first) log_->hold_drain();
  for (;;) {
    NodeLog::Range range{};
    while (first && (range = log_->next_range(kBatchOfOne * drainers)).blocked) sleep_for(kLook);
    if (!t.node_comm->broadcast(&range, sizeof range, 0))
      status = {Code::mpi, "the node's ranks cannot reach each other"};
    if (!status.ok() || range.empty()) break;
    if (t.local_rank < drainers) status = log_->write_range(range, t.local_rank, drainers, below_);
    if (!t.node_comm->all(status.ok())) break;
    if (first) log_->drained(range);
  }
  if (first) log_->release_drain();
  return status;
}

Status KeepInLog::flush_for(FlushFor why) {
  FileContext& f = file_;
  bool waits = why == FlushFor::file || (why == FlushFor::sync && !syncs_in_log()) ||
               (why == FlushFor::close && !closes_in_background()) ||
               (why == FlushFor::size && several_ && !reads_alone_);
  // After a sync a rank of another node may write the same place.
  if (!waits && several_ && why == FlushFor::sync) {
    Agreement agreed;
    const auto any_own = agreed.any(!own_.empty() && !log_->empty());
    f.agree(agreed);
    waits = agreed[any_own];
  }
  if (waits) return flush();
  watching_ = false;
  // All have appended what they had; and nobody goes on before the log is as safe as it has to be.
  f.barrier();
  Status status;
  if (why == FlushFor::sync && f.settings.log_safety == LogSafety::node) {
    if (f.nodes->topology().local_rank == 0) status = log_->make_durable();
    status = f.outcome(status);
  }
  return status;
}

Status KeepInLog::flush_independent() {
  Status status = log_->drain_all(below_);
  return status.ok() ? wait_for_others({0, kNoOffset}) : status;
}

Status KeepInLog::read_at(std::int64_t offset, std::byte* data, std::int64_t length) {
  Status status = wait_for_others({offset, offset + length});
  return status.ok() ? Keeper::read_at(offset, data, length) : status;
}

Status KeepInLog::read(std::span<const Get> gets) {
  for (const Get& get : gets) {
    if (Status status = wait_for_others(get.cursor->hull()); !status.ok()) return status;
  }
  return Keeper::read(gets);
}

// Of what another node's log has nothing is read there.
Status KeepInLog::before_collective_read(std::int64_t& kept) {
  kept = several_ ? log_->pending() : 0;
  paused_ = false;
  return {};
}

Status KeepInLog::barrier_around_read() {
  return several_ ? flush() : Keeper::barrier_around_read();
}

// As in KeepByNode. Where what lies there stays in a log, it would come over what is written there next.
void KeepInLog::space_freed() {
  if (!several_ || paused_) return;
  const CollectiveCall call(file_.about("deletion"));
  freed_ = flush();
  file_.untold.update(freed_);
  paused_ = true;
}

Status KeepInLog::begin_direct_writes(bool collective) {
  return collective ? Status{} : flush_independent();
}

// ---- the end of the process ----

void KeepInLog::be_watched() {
  if (!watching_) watch(*this);
  watching_ = true;
}

bool KeepInLog::write_in_signal(const Piece& piece) noexcept {
  return log_->append_in_signal(piece);
}

// What is in the log outlives this process.
void KeepInLog::write_out(Ending ending) noexcept {
  if (ending.in_signal) {
    if (served_ == 0 && !log_->empty()) say_in_log(file_.options.path.c_str());
    return;
  }
  // An append that the end of the process has interrupted is waited for by nobody.
  log_->leave();
  const Status status = log_->drain_all(below_);
  if (!status.ok()) {
    warn_once("as the program ended: " + status.message() + "; what is missing is in " + log_->name() +
              ": forebay recover " + file_.options.path);
    return;
  }
  if (served_ == 0 && log_->empty() && !log_->is_used() && log_->left_in_level1() == 0) remove_log(*log_);
}

}  // namespace forebay
