#include "engine/keep_by_rank.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/section.hpp"
#include "engine/collective.hpp"
#include "engine/file_context.hpp"
#include "engine/reach.hpp"
#include "engine/window_use.hpp"
#include "engine/write_out.hpp"
#include "ranks/agreement.hpp"
#include "storage/emergency_writer.hpp"

namespace forebay {
namespace {

constexpr std::size_t kMostExtents = 4096;  // of the calls that are kept
constexpr int kMostPause = 64;
constexpr int kFewCalls = 4;

}  // namespace

KeepByRank::KeepByRank(FileContext& file, NodeMemory counts)
    : Keeper(file),
      pool_(pool_bound(file.settings)),
      claim_(MemoryClaim::Kind::keeping, pool_bound(file.settings)),
      nothing_(file),
      count_(std::move(counts), file.nodes->topology(), *file.comm, file.file, file.options.path) {
  watch(*this);  // in MPI_Finalize all ranks count, whoever keeps something then
}

KeepByRank::~KeepByRank() {
  unwatch(*this);
}

// ---- the pool ----

/// While this lives, requests of the pool are walked, and other ranks waited for.
class KeepByRank::InUse {
 public:
  explicit InUse(KeepByRank& of) : of_(of) { of_.in_use_ = true; }
  ~InUse() { of_.in_use_ = false; }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  KeepByRank& of_;
};

// Keeps what was staged.
void KeepByRank::keep(std::int64_t runs) {
  const bool first = pool_.empty();
  count_.keeps();
  written_out_ = false;
  pool_.keep();
  runs_ += runs;
  if (pool_.empty()) count_.written();
  file_.counters.pool_peak_bytes = std::max(file_.counters.pool_peak_bytes, pool_.peak_bytes());
  if (!first || pool_.empty()) return;
  since_ = now();
  watch(*this);
}

// Once the ranks have agreed to keep, none may fail to.
bool KeepByRank::make_room() noexcept {
  try {
    collective_.make_room();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool KeepByRank::overdue() const {
  return !pool_.empty() && now() - since_ >= std::chrono::seconds(file_.settings.commit_seconds);
}

void KeepByRank::clear_pool() {
  const Section section;
  pool_.clear();
  runs_ = 0;
  count_.written();
}

// Independent: what the pool holds goes to the file.
Status KeepByRank::write_pool() {
  if (pool_.empty()) return {};
  const StageTimer timer(file_.counters, Stage::write);
  Status status;
  const Section section;
  const InUse in_use(*this);
  pool_.for_each([&](const Put& put) {
    if (status.ok())
      status = file_.bypass.write(put, file_.layout.stripe_bytes(), *file_.storage, file_.counters);
  });
  // What the others keep of collective calls stays theirs.
  if (status.ok()) clear_pool(), alone_ = false;
  return status;
}

// ---- collective ----

Status KeepByRank::write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                             When /*when*/) {
  return write_or_flush(puts, std::move(mine), agree_max, false);
}

Status KeepByRank::flush() {
  return write_or_flush({}, {}, {}, true);
}

// Keeps all ranks' puts in their pools, or flushes these and what is in the pools; `flush`: the latter.
Status KeepByRank::write_or_flush(std::span<const Put> puts, Status mine, std::span<std::int64_t> agree_max,
                                  bool flush) {
  FileContext& f = file_;
  bool keeps =
      !flush && not_kept_ == 0 && !f.twice() && mine.ok() && !overdue() && collective_.size() < kMostExtents;
  if (!flush && not_kept_ > 0) --not_kept_;
  if (keeps) {
    const StageTimer timer(f.counters, Stage::pool);
    keeps = make_room() && pool_.stage(puts, most_of_small_call(f.settings));
  }
  // What ranks have put by themselves is older.
  if (independent_) {
    if (Status older = past().flush(); !older.ok()) {
      mine.update(std::move(older));
      pool_.forget_staged();
      keeps = false;
      puts = {};
    }
  }
  WindowUse use(f);
  const Reach fresh_here(f.layout, puts);
  Reach reach = fresh_here;
  const Extent held_here = pool_.empty() ? Extent{kNoOffset, 0} : pool_.hull();
  if (!pool_.empty()) reach.add(held_here, pool_.alignment());
  Agreement agreed;
  const auto fresh_begin = agreed.minimum(fresh_here.hull.begin);
  const auto fresh_end = agreed.maximum(fresh_here.hull.end);
  const auto held_begin = agreed.minimum(held_here.begin);
  const auto held_end = agreed.maximum(held_here.end);
  const auto alignment = agreed.minimum(reach.alignment);
  const auto all_keep = agreed.all(mine.ok() && keeps);
  const auto all_collective = agreed.all(!alone_);
  agreed.maxima(agree_max);
  const std::int64_t runs_here = count_direct(f, puts);
  agreed.sum(runs_here + runs_);
  use.agree(agreed);
  const Extent fresh{agreed[fresh_begin], agreed[fresh_end]};  // all ranks' puts of this call
  const Extent held{agreed[held_begin], agreed[held_end]};     // what all ranks keep from earlier ones
  const int shift = shift_of(agreed[alignment]);

  // Bytes of a later call must win over those of an earlier one, whatever ranks they come from: what is kept
  // goes first where the two may overlap. Where that comes every few calls, the next ones are not kept.
  const bool apart = collective_.overlaps(fresh) ||
                     (!agreed[all_collective] && held.begin < fresh.end && fresh.begin < held.end);
  if (apart) {
    pool_.forget_staged();
    ++f.counters.pool_conflicts;
    if (calls_ < kFewCalls) {
      not_kept_ = next_pause_;
      next_pause_ = std::min(2 * next_pause_, kMostPause);
    } else {
      next_pause_ = 1;
    }
    if (Status status = flush_all(use, {}, held, shift, agreed.sum(), {}); !status.ok()) return status;
    return flush_all(use, puts, fresh, shift, agreed.sum(), std::move(mine));
  }
  if (agreed[all_keep]) {
    ++f.counters.pooled_calls;
    f.counters.pooled_requests += static_cast<std::int64_t>(puts.size());
    keep(runs_here);
    collective_.add(fresh);
    ++calls_;
    return {};
  }
  pool_.forget_staged();
  if (!collective_.empty()) next_pause_ = 1;
  const Extent hull{std::min(fresh.begin, held.begin), std::max(fresh.end, held.end)};
  return flush_all(use, puts, hull, shift, agreed.sum(), std::move(mine));
}

// What is kept, and `puts`, all of it within `hull` on all ranks.
Status KeepByRank::flush_all(WindowUse& use, std::span<const Put> puts, Extent hull, int shift,
                             std::int64_t runs, Status mine) {
  FileContext& f = file_;
  std::vector<Put> all;
  try {
    std::vector<Put> fresh(puts.begin(), puts.end());
    if (f.long_run() > 0 && mine.ok()) {
      const StageTimer timer(f.counters, Stage::write);
      mine = f.bypass.take_out(fresh, f.long_run(), f.layout.stripe_bytes(), *f.storage, f.counters);
    }
    pool_.append_to(all);
    all.insert(all.end(), fresh.begin(), fresh.end());
  } catch (const std::bad_alloc&) {
    all.clear();
    mine.update(f.no_memory("for a collective write to "));
  }
  {
    const InUse in_use(*this);
    if (Status status = run_flush(use, all, std::move(mine), hull, shift, runs); !status.ok()) return status;
  }
  clear_pool();
  collective_.clear();
  alone_ = false;
  calls_ = 0;
  return {};
}

// One flush and its outcome on all ranks, which have agreed before.
Status KeepByRank::run_flush(WindowUse& use, std::span<const Put> puts, Status mine, Extent hull, int shift,
                             std::int64_t runs) {
  if (!hull.empty()) {
    if (fits_direct(file_, runs)) return write_direct(file_, puts, std::move(mine), runs);
    Status flushed = use.settle();
    if (flushed.ok()) flushed = flush_in_rounds(file_, *use.get(), puts, hull, shift);
    mine.update(std::move(flushed));
  }
  return file_.outcome(mine);
}

Status KeepByRank::before_collective_read(std::int64_t& kept) {
  if (Status status = flush(); !status.ok()) return status;
  return past().before_collective_read(kept);
}

// ---- independent ----

void KeepByRank::begin_independent() {
  if (node_ == nullptr) keep_on_node();
  independent_ = node_ != nullptr;
}

// Without, each rank keeps its own.
void KeepByRank::keep_on_node() {
  FileContext& f = file_;
  Agreement agreed;
  const auto offer = f.offer_memory(agreed);
  agreed.reduce_over(*f.comm);
  if (agreed[offer.share] == 0) return;
  Settings share = f.settings;
  share.pool_bytes = std::min(agreed[offer.share], pool_bound(f.settings));
  // The set's communicators may be in use for another thread's file.
  const Topology& t = f.nodes->topology();
  const std::unique_ptr<Communicator> node = f.comm->split(t.node, t.local_rank);
  std::unique_ptr<KeepByNode> made;
  if (KeepByNode::create(f, {*node, *f.comm, nullptr}, share, this, made).ok()) node_ = std::move(made);
}

Status KeepByRank::write(std::span<const Put> puts, When when) {
  if (node_ != nullptr) {
    // What this rank keeps of earlier calls is older.
    if (Status status = write_pool(); !status.ok()) return status;
    node_->be_watched();
    count_.keeps();
    return node_->write(puts, when);
  }
  if (keep_independent(puts)) return {};
  if (Status status = write_pool(); !status.ok()) return status;
  if (keep_independent(puts)) return {};
  const StageTimer timer(file_.counters, Stage::write);
  return file_.write_now(puts);
}

bool KeepByRank::keep_independent(std::span<const Put> puts) {
  const StageTimer timer(file_.counters, Stage::pool);
  if (file_.twice() || overdue() || !pool_.stage(puts)) return false;
  keep(count_direct(file_, puts));
  alone_ = true;
  file_.counters.pooled_requests += static_cast<std::int64_t>(puts.size());
  return true;
}

Status KeepByRank::flush_independent() {
  Status status = write_pool();
  status.update(past().flush_independent());
  if (status.ok()) count_.written();
  return status;
}

Status KeepByRank::read_at(std::int64_t offset, std::byte* data, std::int64_t length) {
  if (Status status = write_pool(); !status.ok()) return status;
  return past().read_at(offset, data, length);
}

Status KeepByRank::read(std::span<const Get> gets) {
  if (gets.empty()) return {};
  if (Status status = write_pool(); !status.ok()) return status;
  return past().read(gets);
}

Status KeepByRank::begin_direct_writes(bool collective) {
  Status status = past().begin_direct_writes(collective);
  if (!collective) status.update(flush_independent());
  return status;
}

// ---- the end of the process ----

void KeepByRank::write_out(Ending ending) noexcept {
  const std::string& path = file_.options.path;
  if (ending.orderly) count_.finishes();
  bool counts = ending.orderly;
  if (node_ != nullptr && node_->write_kept(ending) && pool_.empty() && count_.keeping()) {
    count_.written();
    counts = true;
  }
  if (pool_.empty() || written_out_) {
    if (counts && !count_.raise()) say_not_written(path.c_str());
    return;
  }
  if (!ending.in_signal) {
    try {
      Status status;
      pool_.for_each([&](const Put& put) {
        if (status.ok()) status = bypass_.write(put, 4096, *file_.storage, file_.counters);
      });
      if (status.ok()) {
        clear_pool();
        if (!count_.raise()) status = from_errno(errno, "cannot write the number of records of " + path);
      }
      if (!status.ok()) warn_once("as the program ended: " + status.message());
      return;
    } catch (const std::bad_alloc&) {  // of a message
    }
  }
  // A thread may be walking the requests, and cannot be waited for.
  const StoredFile& stored = file_.file;
  const bool well = !(in_use_ && Section::crowded()) &&
                    write_out_in_signal(stored.descriptor(), stored.system().local, pool_);
  if (well) {
    written_out_ = true;
    count_.written();
  }
  if (!well || !count_.raise()) say_not_written(path.c_str());
}

void KeepByRank::begin_reduction() noexcept {
  count_.begin_reduction(pool_.empty() || written_out_);
}

}  // namespace forebay
