// The rounds of a collective read, and how an owner reads one.
#include "engine/fetch.hpp"

#include <algorithm>
#include <new>

#include "engine/indispensable.hpp"
#include "engine/owner_round.hpp"
#include "exchange/dirty_map.hpp"
#include "request/active_set.hpp"

namespace forebay {
namespace {

// On one node only owners look at the marks, to see what is worth reading: whole blocks do.
constexpr int kBlockShift = 12;
constexpr std::size_t kBatch = 512;

}  // namespace

/// Reads what is wanted of this owner's parts.
class FetchRun::Reader {
 public:
  Reader(const Flush& flush, std::int64_t gap) : f_(flush), gap_(gap), round_(flush) {}

  /// After the node's barrier. Returns where the next round begins.
  std::int64_t gather(std::int64_t base, Extent hull, int parity, std::int64_t node_next, Status& status) {
    round_.gather(base, hull, parity, f_.window.merges_together());
    return round_.agree(OwnerRound::Sends::requests, node_next, status);
  }
  void exchange_requests(Status& status) { round_.exchange_requests(status); }
  void exchange_answers(Status& status) { round_.exchange_answers(status); }

  /// Near parts together with what lies between them.
  Status read() {
    const StageTimer timer(f_.counters, Stage::read);
    const int shift = f_.window.shift();
    const std::int64_t base = round_.base();
    Status status;
    for (const DomainPart& s : round_.parts()) {
      Extent part{};
      const auto read_part = [&] {
        part = {std::max(part.begin, s.begin), std::min(part.end, s.end)};
        if (part.empty() || !status.ok()) return;
        f_.counters.count_read(part.size());
        status = f_.storage.read(part.begin, round_.buffer() + (part.begin - base), part.size());
      };
      const std::int64_t first = (s.begin - base) >> shift;
      const std::int64_t last = (s.end - base + (std::int64_t{1} << shift) - 1) >> shift;
      for_each_bit_run(round_.merged(), first, last, [&](std::int64_t bit, std::int64_t bits) {
        const std::int64_t begin = base + (bit << shift);
        const std::int64_t end = begin + (bits << shift);
        if (!part.empty() && begin - part.end <= gap_) {
          part.end = end;
          return;
        }
        read_part();
        part = {begin, end};
      });
      read_part();
    }
    return status;
  }

 private:
  const Flush& f_;
  std::int64_t gap_;
  OwnerRound round_;
};

FetchRun::FetchRun(const Flush& flush, std::span<const Get> gets, std::int64_t gap) : f_(flush), gap_(gap) {
  attempt([&] {
    active_ = std::make_unique<ActiveItems<Get>>(gets);
    active_->start(f_.domains.round_bytes());
  });
}

FetchRun::~FetchRun() = default;

// A rank that cannot go on gives up its part, never its place: the others wait for it in the barrier of every
// round.
template <class Work>
void FetchRun::attempt(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    status_.update({Code::no_memory, "no memory for a part of a collective read"});
    lost_ = true;
  }
  if (lost_) active_.reset();
}

// A cursor that does not come round by round would read another round's bytes. Looking at two of its runs
// finds that out, soon enough.
bool FetchRun::within(std::span<const Run> runs, std::int64_t base, std::int64_t limit) {
  const Run& last = runs.back();
  if (runs.front().file >= base && last.file >= base && last.file + last.length <= limit) return true;
  status_.update({Code::internal, "a request does not come in the order of rounds"});
  lost_ = true;
  return false;
}

void FetchRun::take(std::int64_t base, int parity) {
  const StageTimer timer(f_.counters, Stage::walk);
  Round& round = rounds_[static_cast<std::size_t>(parity)];
  round.base = base;
  round.parts.clear();
  f_.window.clear(parity);
  if (!active_) return;
  const std::int64_t limit = base + f_.domains.round_bytes();
  const bool exact = f_.nodes > 1;
  attempt([&] {
    std::size_t end = 0;
    active_->visit(limit, [&](const Get& get) {
      const std::size_t begin = end;
      while (end < kMostRuns) {
        if (round.runs.size() < end + kBatch) round.runs.resize(std::max(2 * end, end + kBatch));
        const std::span<Run> batch(round.runs.data() + end, kBatch);
        const std::size_t n = get.cursor->take(limit, batch);
        if (n == 0) break;
        if (!within(batch.first(n), base, limit)) return;
        if (exact) {
          f_.window.mark(parity, batch.first(n), base);
        } else {
          f_.window.mark_touched(parity, batch.first(n), base);
        }
        end += n;
      }
      if (end > begin) round.parts.push_back({get.sink, begin, end});
    });
  });
}

void FetchRun::pick(int parity) {
  const StageTimer timer(f_.counters, Stage::pick);
  const Round& round = rounds_[static_cast<std::size_t>(parity)];
  const std::byte* const buffer = f_.window.buffer(parity);
  const std::span<const Run> runs = round.runs;
  attempt([&] {
    for (const Part& part : round.parts) {
      for (std::size_t at = part.begin; at < part.end; at += kBatch) {
        const auto batch = runs.subspan(at, std::min(kBatch, part.end - at));
        part.sink->consume(batch, buffer, round.base);
        f_.counters.get_pieces += static_cast<std::int64_t>(batch.size());
        for (const Run& run : batch) f_.counters.get_bytes += run.length;
      }
    }
  });
}

void FetchRun::pick_at_once(std::int64_t base, int parity) {
  const StageTimer timer(f_.counters, Stage::pick);
  if (!active_) return;
  const std::byte* const buffer = f_.window.buffer(parity);
  const std::int64_t limit = base + f_.domains.round_bytes();
  std::array<Run, kBatch> batch;
  attempt([&] {
    active_->visit(limit, [&](const Get& get) {
      while (const std::size_t n = get.cursor->take(limit, batch)) {
        const std::span<const Run> runs(batch.data(), n);
        if (!within(runs, base, limit)) return;
        get.sink->consume(runs, buffer, base);
        f_.counters.get_pieces += static_cast<std::int64_t>(n);
        for (const Run& run : runs) f_.counters.get_bytes += run.length;
      }
    });
  });
}

void FetchRun::begin_whole(Extent hull) {
  whole_ = true;
  hull_ = hull;
  if (f_.aggregator >= 0) f_.counters.aggregator = 1;
  base_ = f_.domains.round_begin(hull.begin);
  read_whole(base_, 0);
  next_round(0, kNoOffset);
}

void FetchRun::begin(Extent hull, int shift) {
  hull_ = hull;
  f_.window.begin(f_.nodes == 1 ? kBlockShift : shift);
  if (f_.aggregator >= 0) {
    indispensable([&] { reader_ = std::make_unique<Reader>(f_, gap_); });
    if (f_.domains.owns({f_.node, f_.aggregator})) f_.counters.aggregator = 1;
  }
  base_ = f_.domains.round_begin(hull.begin);
  take(base_, 0);
}

Status FetchRun::finish() {
  while (step()) {
  }
  return std::move(status_);
}

Status FetchRun::run_whole(Extent hull) {
  begin_whole(hull);
  return finish();
}

Status FetchRun::run(Extent hull, int shift) {
  begin(hull, shift);
  return finish();
}

std::int64_t FetchRun::next_round(int parity, std::int64_t next) {
  const StageTimer timer(f_.counters, Stage::node_wait);
  return f_.window.next_round(parity, next);
}

std::int64_t FetchRun::next() const {
  return active_ ? active_->next() : kNoOffset;
}

bool FetchRun::step() {
  const TraceSpan span(f_.counters, Span::round, base_ / f_.domains.round_bytes());
  return whole_ ? step_whole() : step_marked();
}

void FetchRun::read_whole(std::int64_t base, int parity) {
  const StageTimer timer(f_.counters, Stage::read);
  std::byte* const buffer = f_.window.buffer(parity);
  f_.domains.for_each_part(base, hull_, [&](const DomainPart& s) {
    if (s.owner.rail != f_.aggregator || !status_.ok()) return;
    f_.counters.count_read(s.end - s.begin);
    status_ = f_.storage.read(s.begin, buffer + (s.begin - base), s.end - s.begin);
  });
  ++f_.counters.rounds;
}

// The round is in the window, and everybody is through with the one before.
bool FetchRun::step_whole() {
  const int parity = round_ & 1;
  const std::int64_t guess = base_ + f_.domains.round_bytes();
  if (guess < hull_.end) read_whole(guess, 1 - parity);
  pick_at_once(base_, parity);
  const std::int64_t least = next_round(1 - parity, next());
  if (least == kNoOffset) return false;
  base_ = f_.domains.round_begin(least);
  ++round_;
  if (base_ != guess) {
    read_whole(base_, 1 - parity);
    next_round(parity, kNoOffset);
  }
  return true;
}

bool FetchRun::step_marked() {
  const int parity = round_ & 1;
  // All have marked this round, and the round before is in the window.
  std::int64_t least = next_round(parity, next());
  if (f_.window.merges_together()) {
    const StageTimer timer(f_.counters, Stage::node_wait);
    f_.window.merge_together(parity);
  }
  ++f_.sequence;
  if (reader_) {
    indispensable([&] {
      least = reader_->gather(base_, hull_, parity, least, status_);
      if (f_.nodes > 1 && f_.aggregator == 0) f_.window.announce(f_.sequence, {least});
      reader_->exchange_requests(status_);
      // After a failure the rounds go on, so that nobody waits in vain, but this owner reads no more.
      if (status_.ok()) status_ = reader_->read();
      reader_->exchange_answers(status_);
    });
    ++f_.counters.rounds;
  } else if (f_.nodes > 1) {
    const StageTimer timer(f_.counters, Stage::node_wait);
    least = f_.window.await(f_.sequence).next;
  }
  if (round_ > 0) pick(1 - parity);
  if (least == kNoOffset) {
    {
      const StageTimer timer(f_.counters, Stage::node_wait);
      f_.window.barrier();
    }
    pick(parity);
    return false;
  }
  base_ = f_.domains.round_begin(least);
  ++round_;
  take(base_, 1 - parity);
  return true;
}

}  // namespace forebay
