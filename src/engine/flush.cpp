// The rounds of a flush, and how an owner writes one.
#include "engine/flush.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/section.hpp"
#include "engine/indispensable.hpp"
#include "engine/owner_round.hpp"
#include "engine/stripe_writer.hpp"
#include "request/active_set.hpp"

namespace forebay {
namespace {

constexpr std::size_t kBatch = 512;  // runs at a time: 12 KiB, stays in the first-level cache

}  // namespace

/// Writes what the window holds of this owner's parts.
class FlushRun::Writer {
 public:
  explicit Writer(const Flush& flush)
      : f_(flush),
        round_(flush),
        writer_(flush, std::min(flush.domains.stripe_bytes(), flush.domains.round_bytes())) {}

  /// Between the node barrier and the file. Nothing was put outside of `hull`. Returns where the next round
  /// begins.
  std::int64_t gather(std::int64_t base, Extent hull, int parity, bool merged, std::int64_t node_next,
                      Status& status) {
    f_.counters.node_bytes += round_.gather(base, hull, parity, merged);
    return round_.agree(OwnerRound::Sends::bytes, node_next, status);
  }
  void exchange(Status& status) { round_.exchange_bytes(status); }

  /// What was put, and nothing else.
  Status write() {
    const StageTimer timer(f_.counters, Stage::write);
    std::int64_t runs = 0;
    const std::int64_t before = f_.counters.writes;
    Status status = writer_.write(round_.parts(),
                                  {round_.base(), round_.buffer(), round_.merged(), f_.window.shift()}, runs);
    writer_.done();
    if (f_.counters.writes > before) ++f_.counters.owner_rounds;
    // On several nodes they were counted before the others' came.
    if (f_.nodes == 1) f_.counters.node_runs += runs;
    return status;
  }

 private:
  const Flush& f_;
  OwnerRound round_;
  StripeWriter writer_;
};

Status outcome_of_node(const Flush& flush, Status mine) {
  if (!mine.ok()) flush.window.set_failed(true);
  const StageTimer timer(flush.counters, Stage::node_wait);
  flush.window.barrier();
  const int failed = flush.window.failed_rank();
  if (failed >= 0 && mine.ok())
    return {Code::peer, "rank " + std::to_string(failed) + " of this node could not write its part"};
  return mine;
}

FlushRun::FlushRun(const Flush& flush, std::span<const Put> puts) : f_(flush) {
  attempt([&] {
    active_ = std::make_unique<ActiveSet>(puts);
    active_->start(f_.domains.round_bytes());
  });
}

FlushRun::~FlushRun() = default;

// A rank without memory gives up its part, never its place: the others wait for it in the barrier of every
// round.
template <class Work>
void FlushRun::attempt(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    status_.update({Code::no_memory, "no memory for a part of a collective write"});
    active_.reset();
  }
}

void FlushRun::scatter(std::int64_t base, int parity) {
  const StageTimer timer(f_.counters, Stage::scatter);
  f_.window.clear(parity);
  if (!active_) return;
  std::byte* buffer = f_.window.buffer(parity);
  std::array<Run, kBatch> batch;
  const std::int64_t limit = base + f_.domains.round_bytes();
  const Section section;  // the requests may be kept ones
  attempt([&] {
    active_->visit(limit, [&](const Put& put) {
      while (const std::size_t n = put.cursor->take(limit, batch)) {
        const std::span<const Run> runs(batch.data(), n);
        put.source->produce(runs, buffer, base);
        f_.window.mark(parity, runs, base);
        f_.counters.pieces += static_cast<std::int64_t>(n);
        for (const Run& run : runs) f_.counters.bytes += run.length;
      }
    });
  });
}

bool FlushRun::guess(std::int64_t base, int shift, bool any) {
  if (any && !f_.window.claim(f_.sequence, base / f_.domains.round_bytes())) return false;
  const std::int64_t pieces = f_.counters.pieces, bytes = f_.counters.bytes;
  f_.window.begin(shift);
  scatter(base, 0);
  guessed_pieces_ = f_.counters.pieces - pieces;
  guessed_bytes_ = f_.counters.bytes - bytes;
  return true;
}

void FlushRun::begin(std::int64_t first, int shift) {
  forget_guess();
  attempt([&] {
    if (active_) active_->start(f_.domains.round_bytes());
  });
  f_.window.begin(shift);
  base_ = f_.domains.round_begin(first);
  prepare();
}

void FlushRun::prepare() {
  f_.window.set_failed(false);
  if (f_.aggregator < 0) return;
  indispensable([&] { writer_ = std::make_unique<Writer>(f_); });
  if (f_.domains.owns({f_.node, f_.aggregator})) f_.counters.aggregator = 1;
}

Status FlushRun::finish() {
  while (step()) {
  }
  return std::move(status_);
}

Status FlushRun::run(std::int64_t first, int shift) {
  begin(first, shift);
  return finish();
}

Status FlushRun::run_guessed(std::int64_t base, Extent hull) {
  guessed_ = true;
  base_ = base;
  hull_ = hull;
  if (f_.nodes > 1) prepare();
  return finish();
}

bool FlushRun::step() {
  const TraceSpan span(f_.counters, Span::round, base_ / f_.domains.round_bytes());
  if (guessed_ && f_.nodes == 1) {
    write_guessed();
    return false;
  }
  const int parity = round_ & 1;
  const bool merged = !guessed_ && f_.window.merges_together();
  std::int64_t next = kNoOffset;
  if (!guessed_) {
    scatter(base_, parity);
    const StageTimer timer(f_.counters, Stage::node_wait);
    next = f_.window.next_round(parity, active_ ? active_->next() : kNoOffset);
    if (merged) f_.window.merge_together(parity);
  }
  ++f_.sequence;
  if (writer_) {
    indispensable([&] {
      next = writer_->gather(base_, hull_, parity, merged, next, status_);
      if (f_.nodes > 1 && f_.aggregator == 0) f_.window.announce(f_.sequence, {next});
      writer_->exchange(status_);
    });
    // After a failure the rounds go on, so that nobody waits in vain, but nothing more is written by this
    // owner.
    if (status_.ok()) attempt([&] { status_.update(writer_->write()); });
    ++f_.counters.rounds;
  } else if (f_.nodes > 1) {
    const StageTimer timer(f_.counters, Stage::node_wait);
    next = f_.window.await(f_.sequence).next;
  }
  if (next != kNoOffset) {
    base_ = f_.domains.round_begin(next);
    ++round_;
    return true;
  }
  status_ = outcome_of_node(f_, std::move(status_));
  return false;
}

// The whole flush is in the window: its owners write, and everybody waits for them and for nobody else. Where
// ranks share cores, a barrier of all costs more than a small write.
void FlushRun::write_guessed() {
  ++f_.sequence;
  if (f_.aggregator >= 0) ++f_.counters.rounds;  // also where it owns nothing of this one
  bool mine = false;
  f_.domains.for_each_part(base_, hull_,
                           [&](const DomainPart& s) { mine = mine || s.owner.rail == f_.aggregator; });
  if (mine) {
    attempt([&] {
      Writer writer(f_);
      writer.gather(base_, hull_, 0, false, kNoOffset, status_);
      if (status_.ok()) status_.update(writer.write());
    });
    f_.counters.aggregator = 1;
    f_.window.finish(f_.aggregator, f_.sequence, static_cast<int>(status_.code()));
  }
  const StageTimer timer(f_.counters, Stage::node_wait);
  f_.domains.for_each_part(base_, hull_, [&](const DomainPart& s) {
    const int rail = s.owner.rail;
    if (rail == f_.aggregator || f_.window.await_finish(rail, f_.sequence) == 0) return;
    status_.update({Code::peer, "aggregator " + std::to_string(rail) + " could not write its part"});
  });
}

void FlushRun::forget_guess() {
  f_.counters.pieces -= std::exchange(guessed_pieces_, 0);
  f_.counters.bytes -= std::exchange(guessed_bytes_, 0);
}

}  // namespace forebay
