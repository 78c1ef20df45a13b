// The loop over rounds, and what an owner does in one.
#include "engine/fetch.hpp"

#include <algorithm>
#include <new>

#include "engine/indispensable.hpp"
#include "exchange/dirty_map.hpp"
#include "exchange/packing.hpp"
#include "request/active_set.hpp"

namespace forebay {
namespace {

// On one node only owners look at the marks, to see what is worth reading: whole blocks do.
constexpr int kBlockShift = 12;
constexpr std::size_t kBatch = 512;

class Reader {
 public:
  Reader(const Flush& flush, std::int64_t gap)
      : f_(flush), gap_(gap), segments_(static_cast<std::size_t>(flush.nodes)) {
    const auto words = static_cast<std::size_t>((f_.window.round_bytes() >> f_.window.shift()) / 64 + 1);
    if (f_.scratch.merged.size() < words) f_.scratch.merged.resize(words);
    merged_ = f_.scratch.merged.data();
    requests_.resize(segments_.size());
    plans_.resize(segments_.size());
    sizes_.resize(segments_.size());
  }

  /// After the node's meeting: what this node wants of this rail's segments, and, on several nodes, how much
  /// the others will ask. Returns where the next round begins.
  std::int64_t gather(std::int64_t base, Extent hull, int parity, std::int64_t node_next, Status& status) {
    base_ = base;
    buffer_ = f_.window.buffer(parity);
    for (auto& list : segments_) list.clear();
    f_.domains.for_each_segment(base, hull, [&](const Segment& s) {
      if (s.owner.rail != f_.aggregator) return;
      auto& list = segments_[static_cast<std::size_t>(s.owner.node)];
      if (!list.empty() && list.back().end == s.begin) {
        list.back().end = s.end;
      } else {
        list.push_back(s);
      }
    });
    // On one node a segment may begin or end inside a block, and a neighbour wants the same block.
    const std::int64_t granule = std::int64_t{1} << f_.window.shift();
    for (const auto& list : segments_) {
      for (const Segment& s : list) {
        const std::int64_t begin = (s.begin - base) / granule * granule;
        const std::int64_t end = (s.end - base + granule - 1) / granule * granule;
        f_.window.merge(parity, begin, std::min(end, f_.window.round_bytes()), merged_);
      }
    }
    if (f_.nodes == 1) return node_next;

    const StageTimer timer(f_.counters, Stage::exchange);
    for (std::size_t n = 0; n < segments_.size(); ++n) {
      plans_[n] = {};
      if (static_cast<int>(n) != f_.node)
        plans_[n] = plan_message(segments_[n], base, f_.window.shift(), merged_);
      sizes_[n] = request_bytes(plans_[n]);
      requests_[n].clear();
    }
    std::int64_t next = kNoOffset;
    status.update(f_.rail->agree(sizes_, node_next, next));
    return next;
  }

  /// The others' requests, added to what this node wants.
  void exchange_requests(Status& status) {
    if (f_.nodes == 1) return;
    const StageTimer timer(f_.counters, Stage::exchange);
    const auto& mine = segments_[static_cast<std::size_t>(f_.node)];
    std::fill(sizes_.begin(), sizes_.end(), 0);
    status.update(f_.rail->transfer(
        [&](int node, std::span<std::byte> out) {
          const auto n = static_cast<std::size_t>(node);
          pack_request(plans_[n], segments_[n], base_, f_.window.shift(), merged_, out.data());
        },
        [&](int node, std::span<const std::byte> message) {
          const auto n = static_cast<std::size_t>(node);
          requests_[n].assign(message.begin(), message.end());
          return unpack_request(message, mine, base_, f_.window.shift(), merged_, sizes_[n]);
        },
        f_.counters));
  }

  /// Reads what is wanted of this owner's segments; near parts together with what lies between them.
  Status read() {
    const StageTimer timer(f_.counters, Stage::read);
    const int shift = f_.window.shift();
    Status status;
    for (const Segment& s : segments_[static_cast<std::size_t>(f_.node)]) {
      Extent part{};
      const auto read_part = [&] {
        part = {std::max(part.begin, s.begin), std::min(part.end, s.end)};
        if (part.empty() || !status.ok()) return;
        ++f_.counters.reads;
        f_.counters.read_bytes += part.size();
        status = f_.storage.read(part.begin, buffer_ + (part.begin - base_), part.size());
      };
      const std::int64_t first = (s.begin - base_) >> shift;
      const std::int64_t last = (s.end - base_ + (std::int64_t{1} << shift) - 1) >> shift;
      for_each_bit_run(merged_, first, last, [&](std::int64_t bit, std::int64_t bits) {
        const std::int64_t begin = base_ + (bit << shift);
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

  /// What the others asked for, and what this node did.
  void exchange_answers(Status& status) {
    if (f_.nodes == 1) return;
    const StageTimer timer(f_.counters, Stage::exchange);
    const int shift = f_.window.shift();
    std::int64_t unused = 0;
    status.update(f_.rail->agree(sizes_, kNoOffset, unused));
    status.update(f_.rail->transfer(
        [&](int node, std::span<std::byte> out) {
          pack_answer(requests_[static_cast<std::size_t>(node)], segments_[static_cast<std::size_t>(f_.node)],
                      base_, shift, buffer_, out.data());
        },
        [&](int node, std::span<const std::byte> answer) {
          return unpack_answer(answer, segments_[static_cast<std::size_t>(node)], base_, shift, merged_,
                               buffer_);
        },
        f_.counters));
  }

 private:
  const Flush& f_;
  std::int64_t gap_;
  std::vector<std::vector<Segment>> segments_;  // of this rail, by node
  std::vector<std::vector<std::byte>> requests_;
  std::vector<PackPlan> plans_;
  std::vector<std::int64_t> sizes_;
  std::uint64_t* merged_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::int64_t base_ = 0;
};

}  // namespace

FetchRun::FetchRun(const Flush& flush, std::span<const Get> gets, std::int64_t gap) : f_(flush), gap_(gap) {
  attempt([&] {
    active_ = std::make_unique<ActiveItems<Get>>(gets);
    active_->start(f_.domains.round_bytes());
  });
}

FetchRun::~FetchRun() = default;

// A rank that cannot go on gives up its part, never its place: the others count on meeting it in every round.
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

Status FetchRun::run_whole(Extent hull) {
  const std::int64_t step = f_.domains.round_bytes();
  if (f_.aggregator >= 0) f_.counters.aggregator = 1;
  const auto read = [&](std::int64_t base, int parity) {
    const StageTimer timer(f_.counters, Stage::read);
    std::byte* const buffer = f_.window.buffer(parity);
    f_.domains.for_each_segment(base, hull, [&](const Segment& s) {
      if (s.owner.rail != f_.aggregator || !status_.ok()) return;
      ++f_.counters.reads;
      f_.counters.read_bytes += s.end - s.begin;
      status_ = f_.storage.read(s.begin, buffer + (s.begin - base), s.end - s.begin);
    });
    ++f_.counters.rounds;
  };
  const auto meet = [&](int parity, std::int64_t next) {
    const StageTimer timer(f_.counters, Stage::node_wait);
    return f_.window.arrive(parity, next);
  };
  std::int64_t base = f_.domains.round_begin(hull.begin);
  int parity = 0;
  read(base, parity);
  meet(parity, kNoOffset);
  for (;;) {
    // This round is in the window, and everybody is through with the one before.
    const std::int64_t guess = base + step;
    if (guess < hull.end) read(guess, 1 - parity);
    pick_at_once(base, parity);
    const std::int64_t next = meet(1 - parity, active_ ? active_->next() : kNoOffset);
    if (next == kNoOffset) return std::move(status_);
    base = f_.domains.round_begin(next);
    parity = 1 - parity;
    if (base == guess) continue;
    read(base, parity);
    meet(1 - parity, kNoOffset);
  }
}

Status FetchRun::run(Extent hull, int shift) {
  f_.window.begin(f_.nodes == 1 ? kBlockShift : shift);
  std::unique_ptr<Reader> reader;
  if (f_.aggregator >= 0) {
    indispensable([&] { reader = std::make_unique<Reader>(f_, gap_); });
    f_.counters.aggregator = 1;
  }
  std::int64_t base = f_.domains.round_begin(hull.begin);
  take(base, 0);
  for (int round = 0;; ++round) {
    const int parity = round & 1;
    std::int64_t next = kNoOffset;
    {
      // All have marked this round, and the round before is in the window.
      const StageTimer timer(f_.counters, Stage::node_wait);
      next = f_.window.arrive(parity, active_ ? active_->next() : kNoOffset);
    }
    ++f_.sequence;
    if (reader) {
      indispensable([&] {
        next = reader->gather(base, hull, parity, next, status_);
        if (f_.nodes > 1 && f_.aggregator == 0) f_.window.announce(f_.sequence, next);
        reader->exchange_requests(status_);
        // After a failure the rounds go on, so that nobody waits in vain, but this owner reads no more.
        if (status_.ok()) status_ = reader->read();
        reader->exchange_answers(status_);
      });
      ++f_.counters.rounds;
    } else if (f_.nodes > 1) {
      const StageTimer timer(f_.counters, Stage::node_wait);
      next = f_.window.await(f_.sequence);
    }
    if (round > 0) pick(1 - parity);
    if (next == kNoOffset) {
      {
        const StageTimer timer(f_.counters, Stage::node_wait);
        f_.window.barrier();
      }
      pick(parity);
      return std::move(status_);
    }
    base = f_.domains.round_begin(next);
    take(base, 1 - parity);
  }
}

}  // namespace forebay
