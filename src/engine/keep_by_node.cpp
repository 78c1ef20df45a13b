#include "engine/keep_by_node.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "engine/collective.hpp"
#include "engine/file_context.hpp"
#include "engine/indispensable.hpp"
#include "engine/order_check.hpp"
#include "engine/write_out.hpp"
#include "keeper/connection.hpp"
#include "ranks/agreement.hpp"
#include "request/memory_stream.hpp"
#include "request/strided.hpp"
#include "segments/node_share.hpp"
#include "storage/emergency_writer.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

constexpr int kLeastSegments = 4;
constexpr std::int64_t kMostSegments = 1 << 20;

// In this machine's own page cache runs of a page are no dearer one by one than copied into a segment first,
// and they do not all come at the end. Where that is all there is, half a page: nothing is saved at the end.
constexpr std::int64_t kLongOnLocal = 4 << 10, kLongInMemory = 2 << 10;

// With the marks, a bit a byte.
std::int64_t with_marks(std::int64_t bytes) {
  return bytes + bytes / 8;
}

// Of runs shorter than that, where it is not 0; -1 where it is not known.
std::int64_t short_bytes_of(std::span<const Put> puts, std::int64_t long_run) {
  std::int64_t bytes = 0;
  try {
    for (const Put& put : puts) {
      if (Bypass::is_long(*put.cursor, long_run)) continue;
      const std::int64_t each = put.cursor->bytes();
      if (each < 0) return -1;
      bytes += each;
    }
  } catch (const std::bad_alloc&) {  // where it is written it says so itself
    return -1;
  }
  return bytes;
}

}  // namespace

// ---- from open to close ----

KeepByNode::KeepByNode(FileContext& file, std::shared_ptr<SegmentMemory> memory, int count, Holder* writer)
    : Keeper(file),
      memory_(std::move(memory)),
      segments_(memory_->memory.at, memory_->segment_bytes, count, file.nodes->topology().local_ranks,
                file.nodes->topology().local_rank, memory_->level1),
      writer_(writer != nullptr ? *writer : *this),
      several_(file.nodes->topology().nodes > 1),
      first_of_node_(file.nodes->topology().local_rank == 0),
      announced_(file.options.announces_independent && writer == nullptr) {}

std::int64_t KeepByNode::least_share(int ranks) {
  const auto bytes = NodeSegments::bytes_needed(NodeSegments::kLeastSegment, kLeastSegments, ranks);
  return (static_cast<std::int64_t>(bytes) + ranks - 1) / ranks;
}

// Holes in what is kept are filled from the file; on several nodes only where they are the only writers and
// lock what they write.
Status KeepByNode::create(FileContext& file, const Memories& memories, const Settings& settings,
                          Holder* writer, std::unique_ptr<KeepByNode>& out) {
  const Topology& t = file.nodes->topology();
  const Communicator& all = memories.all;
  StoredFile& stored = file.file;
  const bool can_fill = file.readable && stored.fills_holes();
  const std::int64_t bound = pool_bound(settings) * t.local_ranks;
  const std::int64_t bytes = choose_segment_bytes(settings, file.layout, t.local_ranks);
  const std::int64_t wanted =
      settings.segments > 0 ? std::int64_t{settings.segments} * t.local_ranks : bound / with_marks(bytes);
  const int count = static_cast<int>(std::clamp<std::int64_t>(wanted, kLeastSegments, kMostSegments));
  bool locks = false;
  if (can_fill && file.options.only_writer && t.nodes > 1 && settings.storage == StorageKind::posix) {
    // All or none, on all nodes; and nobody holds his while he waits for the others. A lock that other nodes
    // do not see is taken as well, and keeps nobody out.
    const bool held =
        stored.system().locks == Locks::everywhere && FileLock(stored.descriptor(), 0, 1).held();
    locks = all.all(held);
  }
  const bool guards = settings.has_keeper && !t.node_comm->shares_heap();
  // The node's first rank starts the keeper process, or finds it, before the others look for it.
  const bool finds_keeper = guards && t.local_rank == 0 && connect_keeper(settings.keeper, true) != 0;

  const SegmentWish segments{bytes, count, guards,
                             guards && file.options.level1 && settings.mode == Mode::automatic};
  std::shared_ptr<SegmentMemory> memory;
  bool looks = memories.spares != nullptr && memories.spares->may_have_spare();
  if (memories.spares != nullptr) memory = memories.spares->take_spare(segments);
  // It may be one that has gone which has that memory.
  if (memory && finds_keeper && !memory->kept.is_held()) memory.reset();
  for (;; looks = false) {
    if (!looks) {
      if (Status made = make_segments(memories.node, all, segments, memory); !made.ok()) return made;
    }
    Status status;
    bool guarded = false;
    if (memory) {
      try {
        memory->claim =
            MemoryClaim(MemoryClaim::Kind::keeping, static_cast<std::int64_t>(memory->bytes) / t.local_ranks);
        out.reset(new KeepByNode(file, memory, count, writer));
        out->most_ = most_of_small_call(settings);
        out->locks_ = locks;
        if (t.local_rank == 0) out->segments_.initialize();
        out->segments_.attach(stored.storage(), file.counters, std::chrono::seconds(settings.commit_seconds),
                              t.nodes == 1 ? can_fill : locks, locks ? stored.descriptor() : -1,
                              stored.mark());
        if (guards) out->connection_ = connect_keeper(settings.keeper, t.local_rank == 0);
        guarded = out->connection_ != 0 && (t.local_rank != 0 || out->hand_over());
      } catch (const std::bad_alloc&) {
        status = file.no_memory("for what commit mode keeps of ");
      }
    }
    // In one message; and nobody may keep anything before rank 0 has made room.
    Agreement agreed;
    const auto found = agreed.all(memory != nullptr), well = agreed.all(status.ok()),
               all_guarded = agreed.all(guarded);
    agreed.reduce_over(all);
    if (agreed[found]) {
      if (!agreed[well]) return status.ok() ? Status{Code::peer, "another rank failed"} : status;
      out->guarded_ = agreed[all_guarded];
      return {};
    }
    // A node of more ranks needs more, so what one has left from another file the next one may not have.
    out.reset();
    memory.reset();
  }
}

bool KeepByNode::hand_over() {
  file_number_ = next_number();
  segments_.serve(file_number_);
  return memory_->kept.serves(file_number_, file_.file.descriptor(), locks_, file_.options.path);
}

KeepByNode::~KeepByNode() {
  unwatch(*this);
  end_service();
}

// False: the keeper process may still be in the memory, which another file must not have then.
bool KeepByNode::end_service() {
  if (file_number_ == 0) return true;
  memory_->kept.closed(std::exchange(file_number_, 0));
  return segments_.end_service();
}

std::shared_ptr<SegmentMemory> KeepByNode::close() {
  if (first_of_node_) file_.counters.segment_bytes = static_cast<std::int64_t>(memory_->bytes);
  if (const int missing = segments_.without_memory(); first_of_node_ && missing > 0)
    warn_few(
        "/dev/shm had no memory for all that may be kept",
        file_.options.path + ": " + std::to_string(missing) + " of " + std::to_string(segments_.count()) +
            " segments were not had, so what was kept was written earlier; make /dev/shm larger, or set " +
            "forebay_pool_bytes lower");
  return end_service() && memory_stays_ ? memory_ : nullptr;
}

// ---- writes ----

Status KeepByNode::write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                             When when) {
  FileContext& f = file_;
  if (several_ && holds_nothing()) return write_through(puts, std::move(mine), agree_max);
  const std::int64_t bytes = short_bytes_of(puts, f.long_run());
  Agreement agreed;
  const auto well = agreed.all(mine.ok());
  const auto small =
      agreed.all(when == When::as_the_mode_says && !f.twice() && keeps() && bytes >= 0 && bytes <= most_);
  const auto kept = agreed.maximum(segments_.kept());
  agreed.maxima(agree_max);
  f.agree(agreed);
  paused_ = false;

  // On several nodes what all wrote together is in the file when they return: HDF5 reads it back, each rank
  // by itself, where a dataset shrinks or is copied.
  if (several_ && agreed[kept] != 0) {
    if (Status older = flush_kept(); !older.ok()) return older;
  }

  // All have entered: what is put now comes after whatever they did before. And all leave together, so that
  // what any of them does next comes later. HDF5 writes chunks from its ranks' caches at such moments.
  if (!several_ && agreed[well] && agreed[small]) {
    holds_ = true;
    ++f.counters.pooled_calls;
    f.counters.pooled_requests += static_cast<std::int64_t>(puts.size());
    {
      const StageTimer timer(f.counters, Stage::pool);
      try {
        mine = take_long_runs(puts, std::move(mine));
        for (const Put& put : puts) mine.update(keep(put));
      } catch (const std::bad_alloc&) {  // the others wait below
        mine.update(f.no_memory("for a collective write to "));
      }
    }
    return f.outcome(mine);
  }
  return write_through(puts, std::move(mine), {});
}

Status KeepByNode::write_through(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max) {
  {
    const StageTimer timer(file_.counters, Stage::write);
    mine = take_long_runs(puts, std::move(mine));
    for (const Put& put : puts) segments_.discard(*put.cursor);
  }
  segments_.end_bypass();  // before the ranks wait for each other in there
  return collective_write(file_, puts, std::move(mine), agree_max);
}

Status KeepByNode::take_long_runs(std::vector<Put>& puts, Status mine) {
  FileContext& f = file_;
  if (f.long_run() == 0 || !mine.ok()) return mine;
  try {
    mine = f.bypass.take_out(puts, f.long_run(), f.layout.stripe_bytes(), *f.storage, f.counters,
                             [&](const Put& put) { segments_.discard(*put.cursor); });
  } catch (const std::bad_alloc&) {
    mine = f.no_memory("for a collective write to ");
    puts.clear();
  }
  segments_.end_bypass();
  return mine;
}

Status KeepByNode::write(std::span<const Put> puts, When when) {
  FileContext& f = file_;
  if (when == When::before_return || paused_ || owes_ || !keeps() || f.twice()) {
    const StageTimer timer(f.counters, Stage::write);
    if (Status status = note_newer(puts); !status.ok()) return status;
    if (locks_) return write_locked(puts);
    for (const Put& put : puts) segments_.discard(*put.cursor);
    Status status = f.write_now(puts);
    segments_.end_bypass();
    return status;
  }
  std::vector<Put> rest;
  try {
    rest.assign(puts.begin(), puts.end());
  } catch (const std::bad_alloc&) {
    return f.no_memory("for a write to ");
  }
  // Long runs gain nothing from a copy.
  const std::int64_t stripe = f.layout.stripe_bytes();
  Status status;
  if (f.settings.bypass_bytes > 0) {
    const StageTimer timer(f.counters, Stage::write);
    status = f.bypass.take_out(rest, f.settings.bypass_bytes, stripe, *f.storage, f.counters,
                               [&](const Put& put) { segments_.discard(*put.cursor); });
    segments_.end_bypass();
  }
  const std::int64_t least_long = f.file.system().memory ? kLongInMemory : kLongOnLocal;
  for (const Put& put : rest) {
    if (!status.ok()) break;
    if (f.file.local() && Bypass::long_on_average(*put.cursor, least_long)) {
      const StageTimer timer(f.counters, Stage::write);
      segments_.discard(*put.cursor);
      status = f.bypass.write_past(put, stripe, *f.storage, f.counters);
      segments_.end_bypass();
      continue;
    }
    ++f.counters.pooled_requests;
    status = keep(put);
  }
  return status;
}

// Another node may be filling holes around these bytes, which it does with the lock that segments take.
Status KeepByNode::write_locked(std::span<const Put> puts) {
  Status status;
  for (const Put& put : puts) {
    if (!status.ok()) break;
    status = keep(put);
    status.update(segments_.drain(put.cursor->hull()));
  }
  return status;
}

// A failure means that there was no place left: NodeSegments::put.
Status KeepByNode::keep(const Put& put) {
  be_watched();
  if (segments_.drain_overdue()) look_for_keeper();
  Status status = segments_.put(put);
  file_.counters.pool_peak_bytes = std::max(file_.counters.pool_peak_bytes, segments_.kept());
  return status;
}

// What a rank holds back for itself has to be seen by the keeper process, too; and nobody waits for that.
Level1Use KeepByNode::level1(Level1Memory& shared) {
  if (!needs_keeper_) return Level1Use::own;
  if (segments_.drain_overdue()) look_for_keeper();
  if (!keeps() || file_.twice() || lacks_level1_) return Level1Use::none;
  if (!std::exchange(memory_->announced, true))
    announce_level1(segments_.number(), file_.nodes->topology().local_rank);
  if (!segments_.level1_is_acknowledged()) return Level1Use::none;
  if (!has_level1_) {
    has_level1_ = segments_.populate_level1();
    lacks_level1_ = !has_level1_;
  }
  shared = segments_.level1();
  return has_level1_ ? Level1Use::shared : Level1Use::none;
}

// Without it what is kept may be lost, which was not said when it was kept.
void KeepByNode::look_for_keeper() {
  if (!guarded_ || lost_keeper_ || keeper_lives(connection_)) return;
  lost_keeper_ = true;
  warn_once("forebay-keeper has ended before its ranks: what is written to " + file_.options.path +
            " goes to the file at once from now on");
  file_.untold.update(segments_.drain());
}

Status KeepByNode::write_at(const Piece& piece) {
  try {
    if (owes_) newer_.push_back({piece.offset, piece.offset + piece.length});
  } catch (const std::bad_alloc&) {
    return file_.no_memory("for a write to ");
  }
  segments_.discard({piece.offset, piece.offset + piece.length});
  Status status = file_.storage->write({&piece, 1});
  segments_.end_bypass();
  return status;
}

Status KeepByNode::begin_direct_writes(bool collective) {
  // Before others fill holes again, all know that somebody may be writing there.
  segments_.begin_bypass();
  if (!collective) return flush_independent();
  file_.comm->barrier();
  return {};
}

void KeepByNode::space_freed() {
  if (!several_ || paused_) return;
  const CollectiveCall call(file_.about("deletion"));
  Status status = flush();
  if (!status.ok() && !std::exchange(owes_, true)) newer_.clear();
  file_.untold.update(std::move(status));
  paused_ = true;
}

Status KeepByNode::note_newer(std::span<const Put> puts) {
  if (!owes_) return {};
  try {
    for (const Put& put : puts)
      put.cursor->for_each_run([&](const Run& run) { newer_.push_back({run.file, run.file + run.length}); });
  } catch (const std::bad_alloc&) {
    return file_.no_memory("for a write to ");
  }
  return {};
}

// All ranks. What other nodes' ranks have put meanwhile is in the file, and not to be written over.
void KeepByNode::drop_older() {
  const std::int64_t node = file_.nodes->topology().node;
  indispensable([&] {
    std::vector<std::int64_t> mine{node, static_cast<std::int64_t>(newer_.size())};
    for (const Extent& each : newer_) mine.insert(mine.end(), {each.begin, each.end});
    const std::vector<std::int64_t> all = file_.comm->concatenate(mine);
    for (std::size_t at = 0; at + 1 < all.size();) {
      const bool others = all[at] != node;
      const auto extents = static_cast<std::size_t>(all[at + 1]);
      at += 2;
      for (const std::size_t end = at + 2 * extents; at < end; at += 2)
        if (others) segments_.forget({all[at], all[at + 1]});
    }
  });
  file_.barrier();  // then each locks its share
}

// ---- flushes ----

Status KeepByNode::flush() {
  watching_ = false;  // a program may have set signal handlers by the next put
  segments_.end_bypass();
  paused_ = false;
  if (holds_nothing()) return {};
  Agreement agreed;
  const auto kept = agreed.maximum(segments_.kept());
  file_.agree(agreed);
  // Each knows of what it put itself.
  Status status = agreed[kept] != 0 ? flush_kept() : Status{};
  if (status.ok()) holds_ = owes_ = false;
  return status;
}

Status KeepByNode::flush_kept() {
  FileContext& f = file_;
  Status status;
  if (!several_) {
    {
      const StageTimer timer(f.counters, Stage::write);
      status = segments_.drain_share();
    }
    return f.outcome(status);
  }
  if (owes_) drop_older();
  std::optional<NodeSegments::Share> share;
  Put put;
  try {
    share.emplace(segments_);
    put = {&*share, &*share};
  } catch (const std::bad_alloc&) {  // the others wait below
    status = f.no_memory("to write what is kept of ");
  }
  if (f.settings.check == Check::order) {
    OrderConflicts found;
    indispensable([&] { found = find_order_conflicts(share ? &*share : nullptr, *f.comm); });
    if (found.bytes > 0 && f.counters.order_conflicts == 0 && f.comm->rank() == 0)
      warn_once("forebay_check=order: ranks of several nodes wrote the same bytes of " + f.options.path +
                " without a flush between, the first in [" + std::to_string(found.first.begin) + ", " +
                std::to_string(found.first.end) + "): whose are in the file is not certain");
    f.counters.order_conflicts += found.bytes;
  }
  // What the program put was counted when it put it.
  const std::int64_t pieces = f.counters.pieces, bytes = f.counters.bytes;
  status = collective_write(f, {&put, share ? std::size_t{1} : 0}, std::move(status), {});
  f.counters.pieces = pieces;
  f.counters.bytes = bytes;
  if (!status.ok()) return status;
  share->forget();
  owes_ = false;
  return status;
}

// ---- reads ----

Status KeepByNode::read_at(std::int64_t offset, std::byte* data, std::int64_t length) {
  if (segments_.kept() == 0) return Keeper::read_at(offset, data, length);
  StridedCursor cursor(offset, 0, length, {});
  MemorySink sink(data);
  Counters counters;  // nobody asked by a get
  Status status = segments_.read({&cursor, &sink}, file_.bypass, counters);
  file_.counters.reads += counters.reads;
  file_.counters.read_bytes += counters.read_bytes;
  return status;
}

Status KeepByNode::read(std::span<const Get> gets) {
  Status status;
  for (const Get& get : gets) {
    if (!status.ok()) break;
    status = segments_.read(get, file_.bypass, file_.counters);
  }
  return status;
}

Status KeepByNode::before_collective_read(std::int64_t& kept) {
  kept = segments_.kept();
  paused_ = false;
  return {};
}

// What could not be written is read from the node's own segments; of the other nodes' it cannot be.
Status KeepByNode::barrier_around_read() {
  Status status = flush();
  if (several_) return status;
  file_.untold.update(std::move(status));
  return {};
}

// ---- the end of the process ----

// Not at each put: it asks for the handler of every signal.
void KeepByNode::be_watched() {
  if (!watching_) watch(writer_);
  watching_ = true;
}

bool KeepByNode::write_in_signal(const Piece& piece) noexcept {
  return segments_.bypass_in_signal(file_.file.descriptor(), piece);
}

bool KeepByNode::write_kept(Ending ending) noexcept {
  if (segments_.kept() == 0) return true;
  if (ending.in_signal) {
    if (segments_.write_out_in_signal(file_.file.descriptor())) return true;
    say_not_written(file_.options.path.c_str());
    return false;
  }
  const Status status = segments_.drain();
  if (!status.ok()) warn_once("as the program ended: " + status.message());
  return status.ok();
}

}  // namespace forebay
