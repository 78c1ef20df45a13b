// The rounds of a flush, and how an owner writes one.
#include "engine/flush.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/section.hpp"
#include "engine/indispensable.hpp"
#include "engine/owner_round.hpp"
#include "exchange/dirty_map.hpp"
#include "request/active_set.hpp"

namespace forebay {
namespace {

constexpr std::size_t kBatch = 512;  // runs at a time: 12 KiB, stays in the first-level cache

// What a block with holes costs: a write a run, or a read and a write of the whole. Measured on tmpfs and
// ext4 with MPI-IO: 1.5 µs a small write, 2 GB/s read and write.
constexpr double kWriteCallSeconds = 1.5e-6;
constexpr double kSecondsPerByte = 0.5e-9;
constexpr std::int64_t kFillBytes = 1 << 20;  // holes are filled in parts of this size at most

}  // namespace

/// Writes what the window holds of this owner's parts.
class FlushRun::Writer {
 public:
  explicit Writer(const Flush& flush) : f_(flush), round_(flush) {}

  /// Between the node barrier and the file. Nothing was put outside of `hull`. Returns where the next round
  /// begins.
  std::int64_t gather(std::int64_t base, Extent hull, int parity, std::int64_t node_next, Status& status) {
    f_.counters.node_bytes += round_.gather(base, hull, parity);
    return round_.agree(OwnerRound::Sends::bytes, node_next, status);
  }
  void exchange(Status& status) { round_.exchange_bytes(status); }

  /// What was put, and nothing else.
  Status write() {
    const StageTimer timer(f_.counters, Stage::write);
    Status status = write_parts();
    alone_.reset();
    return status;
  }

 private:
  Status write_parts() {
    auto& pieces = f_.scratch.pieces;
    pieces.clear();
    const int shift = f_.window.shift();
    const std::int64_t base = round_.base();
    for (const DomainPart& s : round_.parts()) {
      // In parts, so that the list stays short however many holes there are.
      const std::int64_t end = (s.end - base) >> shift;
      for (std::int64_t part = (s.begin - base) >> shift; part < end; part += kPartBits) {
        const std::size_t before = pieces.size();
        for_each_bit_run(round_.merged(), part, std::min(part + kPartBits, end),
                         [&](std::int64_t bit, std::int64_t bits) {
                           const std::int64_t at = bit << shift;
                           pieces.push_back({base + at, round_.buffer() + at, bits << shift});
                         });
        // On several nodes they were counted before the others' came.
        if (f_.nodes == 1) f_.counters.node_runs += static_cast<std::int64_t>(pieces.size() - before);
        if (Status status = fill_holes(before); !status.ok()) return status;
        if (before > 0 && before < pieces.size() &&
            pieces[before - 1].offset + pieces[before - 1].length == pieces[before].offset) {
          pieces[before - 1].length += pieces[before].length;
          pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(before));
          if (f_.nodes == 1) --f_.counters.node_runs;
        }
        if (pieces.size() > kMostPieces) {
          if (Status status = write_pieces(); !status.ok()) return status;
        }
      }
    }
    return write_pieces();
  }

  static constexpr std::int64_t kPartBits = 1 << 17;  // at most half as many runs: 1.5 MiB of list
  static constexpr std::size_t kMostPieces = 1 << 16;

  Status write_pieces() {
    auto& pieces = f_.scratch.pieces;
    const std::int64_t unit = std::min(f_.domains.stripe_bytes(), f_.domains.round_bytes());
    for (const Piece& piece : pieces) f_.counters.count_write(piece.offset, piece.length, unit);
    Status status = f_.storage.write(pieces);
    pieces.clear();
    return status;
  }

  // Replaces the runs from `before` on, all of one part, by whole parts of it where reading the holes is
  // cheaper than many writes. Only the owner does so, inside a flush that all ranks have entered, and never
  // past the last byte put.
  Status fill_holes(std::size_t before) {
    auto& pieces = f_.scratch.pieces;
    const std::size_t count = pieces.size() - before;
    if (!f_.fill_holes || count < 3) return {};
    if (f_.mark != nullptr && !alone_) alone_.emplace(*f_.mark);
    if (alone_ && !alone_->certain()) return {};
    std::size_t out = before;
    for (std::size_t first = before; first < before + count;) {
      // A part: as many runs as lie within kFillBytes.
      std::size_t last = first;
      const std::int64_t begin = pieces[first].offset;
      while (last + 1 < before + count &&
             pieces[last + 1].offset + pieces[last + 1].length - begin <= kFillBytes)
        ++last;
      const std::int64_t span = pieces[last].offset + pieces[last].length - begin;
      const double separate = static_cast<double>(last - first) * kWriteCallSeconds;
      const double whole = kWriteCallSeconds + static_cast<double>(span) * 2 * kSecondsPerByte;
      if (separate <= whole) {
        for (std::size_t i = first; i <= last; ++i) pieces[out++] = pieces[i];
        first = last + 1;
        continue;
      }
      auto& block = f_.scratch.block;
      if (block.size() < static_cast<std::size_t>(span)) block.resize(static_cast<std::size_t>(span));
      f_.counters.count_read(span);
      ++f_.counters.rmw_blocks;
      if (Status status = f_.storage.read(begin, block.data(), span); !status.ok()) return status;
      std::byte* target = round_.buffer() + (begin - round_.base());
      for (std::size_t i = first; i < last; ++i) {
        const std::int64_t hole = pieces[i].offset + pieces[i].length - begin;
        const std::int64_t hole_end = pieces[i + 1].offset - begin;
        std::memcpy(target + hole, block.data() + hole, static_cast<std::size_t>(hole_end - hole));
      }
      pieces[out++] = {begin, target, span};
      first = last + 1;
    }
    pieces.resize(out);
    return {};
  }

  const Flush& f_;
  OwnerRound round_;
  std::optional<OpenMark::Alone> alone_;  // from the first hole that is read until all is written
};

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
  f_.counters.aggregator = 1;
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
  std::int64_t next = kNoOffset;
  if (!guessed_) {
    scatter(base_, parity);
    const StageTimer timer(f_.counters, Stage::node_wait);
    next = f_.window.next_round(parity, active_ ? active_->next() : kNoOffset);
  }
  ++f_.sequence;
  if (writer_) {
    indispensable([&] {
      next = writer_->gather(base_, hull_, parity, next, status_);
      if (f_.nodes > 1 && f_.aggregator == 0) f_.window.announce(f_.sequence, next);
      writer_->exchange(status_);
    });
    // After a failure the rounds go on, so that nobody waits in vain, but nothing more is written by this
    // owner.
    if (status_.ok()) attempt([&] { status_.update(writer_->write()); });
    ++f_.counters.rounds;
  } else if (f_.nodes > 1) {
    const StageTimer timer(f_.counters, Stage::node_wait);
    next = f_.window.await(f_.sequence);
  }
  if (next != kNoOffset) {
    base_ = f_.domains.round_begin(next);
    ++round_;
    return true;
  }
  conclude();
  return false;
}

void FlushRun::conclude() {
  if (!status_.ok()) f_.window.set_failed(true);
  const StageTimer timer(f_.counters, Stage::node_wait);
  f_.window.barrier();
  const int failed = f_.window.failed_rank();
  if (failed >= 0 && status_.ok())
    status_ = {Code::peer, "rank " + std::to_string(failed) + " of this node could not write its part"};
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
      writer.gather(base_, hull_, 0, kNoOffset, status_);
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
