// One file's calls where its node keeps what is put. Each rank copies for itself; collective calls agree on
// whether they are kept.
#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "engine/agreement.hpp"
#include "engine/file_state.hpp"
#include "engine/indispensable.hpp"
#include "engine/node_share.hpp"
#include "engine/order_check.hpp"

namespace forebay {
namespace {

// In this machine's own page cache runs of a page are no dearer one by one than copied into a segment first,
// and they do not all come at the end.
constexpr std::int64_t kLongOnLocal = 4 << 10;

}  // namespace

Status CoreFile::State::write_all_on_node(std::span<const Put> puts, Status mine,
                                          std::span<std::int64_t> agree_max, When when) {
  std::int64_t bytes = 0;
  for (const Put& put : puts) {
    const std::int64_t each = put.cursor->bytes();
    bytes = each < 0 || bytes < 0 ? -1 : bytes + each;
  }
  Agreement agreed;
  const auto well = agreed.all(mine.ok());
  const auto small = agreed.all(when == When::as_the_mode_says && !twice() && on_node->small(bytes));
  const auto kept = agreed.maximum(on_node->segments.kept());
  agreed.maxima(agree_max);
  {
    const StageTimer timer(counters, Stage::agree);
    agree(agreed);
  }
  on_node->resting = false;

  // On several nodes what all wrote together is in the file when they return: HDF5 reads it back, each rank
  // by itself, where a dataset shrinks or is copied.
  const bool several = nodes->topology().nodes > 1;
  if (several && agreed[kept] != 0) {
    if (Status older = flush_segments(); !older.ok()) return older;
  }

  // All have entered: what is put now comes after whatever they did before. And all leave together, so that
  // what any of them does next comes later. HDF5 writes chunks from its ranks' caches at such moments.
  if (!several && agreed[well] && agreed[small]) {
    ++counters.pooled_calls;
    counters.pooled_requests += static_cast<std::int64_t>(puts.size());
    {
      const StageTimer timer(counters, Stage::pool);
      try {
        for (const Put& put : puts) mine.update(on_node->put(put));
      } catch (const std::bad_alloc&) {  // the others wait below
        mine.update({Code::no_memory, "no memory for a collective write to " + options.path});
      }
    }
    return outcome(mine);
  }
  std::vector<Put> rest;
  try {
    rest.assign(puts.begin(), puts.end());
    const StageTimer timer(counters, Stage::write);
    for (const Put& put : rest) on_node->segments.discard(*put.cursor);
    if (settings.bypass_bytes > 0 && mine.ok())
      mine = bypass.take_out(rest, settings.bypass_bytes, layout.stripe_bytes(), *storage, counters);
  } catch (const std::bad_alloc&) {
    mine = {Code::no_memory, "no memory for a collective write to " + options.path};
    rest.clear();
  }
  on_node->segments.written_past();  // before all meet in there
  return flush_together(rest, std::move(mine), {});
}

Status CoreFile::State::write_alone_on_node(std::span<const Put> puts, When when) {
  if (when == When::before_return || on_node->resting || twice()) {
    for (const Put& put : puts) on_node->segments.discard(*put.cursor);
    Status status = write_now(puts);
    on_node->segments.written_past();
    return status;
  }
  std::vector<Put> rest;
  try {
    rest.assign(puts.begin(), puts.end());
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "no memory for a write to " + options.path};
  }
  // Long runs gain nothing from a copy.
  Status status;
  if (settings.bypass_bytes > 0) {
    status = bypass.take_out(rest, settings.bypass_bytes, layout.stripe_bytes(), *storage, counters,
                             [&](const Put& put) { on_node->segments.discard(*put.cursor); });
    on_node->segments.written_past();
  }
  for (const Put& put : rest) {
    if (!status.ok()) break;
    if (file.local() && Bypass::long_on_average(*put.cursor, kLongOnLocal)) {
      on_node->segments.discard(*put.cursor);
      const std::int64_t writes = counters.writes, written = counters.written_bytes;
      status = bypass.write(put, layout.stripe_bytes(), *storage, counters);
      on_node->segments.written_past();
      counters.bypass_writes += counters.writes - writes;
      counters.bypass_bytes += counters.written_bytes - written;
      continue;
    }
    ++counters.pooled_requests;
    status = on_node->put(put);
  }
  return status;
}

Status CoreFile::State::flush_segments() {
  Status status;
  if (nodes->topology().nodes == 1) {
    {
      const StageTimer timer(counters, Stage::write);
      status = on_node->segments.drain_share();
    }
    return agree_outcome(comm.get(), status);
  }
  std::optional<NodeSegments::Share> share;
  Put put;
  try {
    share.emplace(on_node->segments);
    put = {&*share, &*share};
  } catch (const std::bad_alloc&) {  // the others wait below
    status = {Code::no_memory, "no memory to write what is kept of " + options.path};
  }
  if (settings.check == Check::order) {
    OrderConflicts found;
    indispensable([&] { found = find_order_conflicts(share ? &*share : nullptr, comm.get()); });
    if (found.bytes > 0 && counters.order_conflicts == 0 && mpi::rank(comm.get()) == 0)
      warn_once("forebay_check=order: ranks of several nodes wrote the same bytes of " + options.path +
                " without a flush between, the first in [" + std::to_string(found.first.begin) + ", " +
                std::to_string(found.first.end) + "): whose are in the file is not certain");
    counters.order_conflicts += found.bytes;
  }
  // What the program put was counted when it put it.
  const std::int64_t pieces = counters.pieces, bytes = counters.bytes;
  status = flush_together({&put, share ? std::size_t{1} : 0}, std::move(status), {});
  counters.pieces = pieces;
  counters.bytes = bytes;
  if (!status.ok()) return status;
  share->forget();
  return status;
}

Status CoreFile::State::flush_node() {
  on_node->flushed();
  on_node->segments.written_past();
  Agreement agreed;
  const auto kept = agreed.maximum(on_node->segments.kept());
  {
    const StageTimer timer(counters, Stage::agree);
    agree(agreed);
  }
  on_node->resting = false;
  // Each knows of what it put itself.
  if (agreed[kept] == 0) return {};
  return flush_segments();
}

void CoreFile::State::meet_on_node() {
  // A reader of what could not be written finds out by himself, and sync tells everybody.
  deferred.update(flush_node());
}

void CoreFile::State::keep_independent() {
  // Without, each rank keeps its own.
  std::array<std::int64_t, kMemoryOffers> memory{};
  offer_memory(memory);
  MPI_Allreduce(MPI_IN_PLACE, memory.data(), static_cast<int>(memory.size()), MPI_INT64_T, MPI_MIN,
                comm.get());
  if (memory[kShare] == 0) return;
  Settings share = settings;
  share.pool_bytes = std::min(memory[kShare], pool_bound(settings));
  // The set's communicators may be in use for another thread's file.
  const Topology& t = nodes->topology();
  mpi::Comm node;
  MPI_Comm_split(comm.get(), t.node, t.local_rank, node.address());
  const auto lease = [&](std::int64_t bytes, int count, std::shared_ptr<SegmentMemory>& out) {
    return make_segments(node.get(), {t.local_ranks, t.local_rank}, comm.get(), bytes, count, out);
  };
  const Status status = KeptOnNode::create(lease, t, comm.get(), share, layout, options.path, file, counters,
                                           readable && file.fills_holes(), options.only_writer, on_node);
  if (!status.ok()) return on_node.reset();
  on_node->counted_by = behind.get();
}

Status CoreFile::State::start_keeping() {
  const bool first = mpi::rank(comm.get()) == 0;
  if (file.descriptor() < 0) {
    // As the process ends there would be no way to the file.
    if (first) warn_once("forebay_mode=strict for " + options.path + ": " + file.no_descriptor());
    settings.mode = Mode::strict;
    return {};
  }
  if (share_to_keep == 0) {
    if (first)
      warn_few("forebay_mode=strict for a file that finds no memory",
               options.path + ": the files that are open keep all that forebay_memory_bytes and /dev/shm " +
                   "allow; set the former, or make the latter, larger");
    settings.mode = Mode::strict;
    return {};
  }
  if (share_to_keep < pool_bound(settings)) settings.pool_bytes = share_to_keep;
  if (options.keeping == Keeping::by_rank) {
    // Without it the number of records in the header is that of the last sync when a process ends.
    const Topology& t = nodes->topology();
    NodeMemory counts;
    if (t.nodes > 1 || !share_on_node(t, comm.get(), EndCounts::bytes_needed(t.local_ranks),
                                      SharedMemory::Pages::at_first_touch, {}, counts)
                            .ok())
      counts = {};
    try {
      behind = std::make_unique<WriteBehind>(settings, file, options.path, *storage, counters,
                                             std::move(counts), t, t.nodes > 1 ? comm.get() : MPI_COMM_NULL);
    } catch (const std::bad_alloc&) {
      return {Code::no_memory, "no memory for the pool of " + options.path};
    }
    return {};
  }
  if (nodes->topology().nodes > 1 && !options.tells_freed_space) {
    if (first)
      warn_once("forebay_mode=commit keeps writes of " + options.driver +
                " on one node only here: on several, they are strict");
    settings.mode = Mode::strict;
    return {};
  }
  const auto lease = [this](std::int64_t bytes, int count, std::shared_ptr<SegmentMemory>& out) {
    return nodes->lease_segments(bytes, count, out);
  };
  for (;;) {
    Status status =
        KeptOnNode::create(lease, nodes->topology(), nodes->comm(), settings, layout, options.path, file,
                           counters, readable && file.fills_holes(), options.only_writer, on_node);
    if (status.ok()) break;
    on_node.reset();
    // On all ranks, since it has been agreed; now why.
    status = spread_failure(comm.get(), status);
    int lacks = status.code() == Code::no_shared_memory ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MIN, comm.get());
    if (lacks == 0) return status;
    // Others may have taken what was free before: less may do.
    const std::int64_t less = pool_bound(settings) / 4;
    if (settings.segments == 0 && less >= KeptOnNode::least_share(nodes->topology().most_local_ranks)) {
      settings.pool_bytes = less;
      memory_is_short = true;
      (void)bypass.reserve();  // before segments take what is left
      continue;
    }
    if (first)
      warn_once("forebay_mode=strict for " + options.path + ": " + status.message() +
                "; make /dev/shm larger, or set forebay_pool_bytes lower");
    settings.mode = Mode::strict;
    return {};
  }
  if (on_node->locks) settings.bypass_bytes = 0;
  return {};
}

}  // namespace forebay
