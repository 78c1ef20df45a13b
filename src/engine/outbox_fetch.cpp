// The wide rounds of a read.
#include "engine/outbox_fetch.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "exchange/dirty_map.hpp"
#include "exchange/packing.hpp"
#include "request/work.hpp"

namespace forebay {
namespace {

// A rank that lists more takes the rest in the next round: 3 MiB of runs.
constexpr std::size_t kMostRuns = std::size_t{1} << 17;

}  // namespace

OutboxFetch::OutboxFetch(const Flush& flush, Outbox& outbox, std::span<const Get> gets, std::int64_t gap)
    : f_(flush), outbox_(outbox), rounds_(f_, outbox), gap_(gap) {
  attempt([&] { rounds_.take(gets); });
}

// As in FetchRun.
template <class Work>
void OutboxFetch::attempt(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    status_.update({Code::no_memory, "no memory for a part of a collective read"});
    lost_ = true;
  }
  if (lost_) rounds_.give_up();
}

void OutboxFetch::barrier() {
  const StageTimer timer(f_.counters, Stage::node_wait);
  f_.window.barrier();
}

Status OutboxFetch::run(Extent hull, int shift) {
  shift_ = outbox_.rounds().granule(shift);
  const bool exchanges = f_.rail != nullptr;
  if (exchanges) {
    if (f_.domains.owns({f_.node, f_.aggregator})) f_.counters.aggregator = 1;
    indispensable([&] {
      const auto nodes = static_cast<std::size_t>(f_.nodes);
      letters_.resize(nodes);
      received_.resize(nodes);
      asked_.resize(nodes);
    });
  }
  rounds_.begin(hull.begin);
  for (;;) {
    const TraceSpan span(f_.counters, Span::round, rounds_.base() / f_.domains.stripe_bytes());
    const Rounds::Course course = rounds_.agree(list(), status_);
    const std::int64_t first = rounds_.cell_of(rounds_.base()), last = rounds_.cell_of(course.end);
    {
      const StageTimer timer(f_.counters, Stage::walk);
      outbox_.merge_requests(first, last, shift_);
    }
    barrier();
    if (outbox_.is_first()) outbox_.begin_sharing();
    if (exchanges) {
      indispensable([&] { exchange(course.end); });
      ++f_.counters.rounds;
      ++f_.counters.wide_rounds;
    }
    barrier();
    {
      const StageTimer timer(f_.counters, Stage::pick);
      if (!outbox_.share_out(first, last, shift_))
        status_.update({Code::internal, "an answer was not as long as its request"});
    }
    barrier();
    pick(course.end);
    outbox_.pass();
    if (course.next == kNoOffset) return std::move(status_);
    rounds_.go_on(course.next);
  }
}

OutboxFetch::Rounds::Course OutboxFetch::list() {
  const StageTimer timer(f_.counters, Stage::walk);
  Rounds::Course mine{rounds_.range().end, kNoOffset};
  attempt([&] {
    const Rounds::Course listed = rounds_.list([&](const Get& get, std::int64_t cell, std::int64_t begin,
                                                   std::span<const Run> runs) -> std::size_t {
      // A cursor that does not come cell by cell would read another one's bytes.
      const std::int64_t end = begin + outbox_.rounds().cell;
      if (runs.front().file < begin || runs.back().file < begin ||
          runs.back().file + runs.back().length > end) {
        status_.update({Code::internal, "a request does not come in the order of rounds"});
        lost_ = true;
        return 0;
      }
      const std::size_t room = kMostRuns - std::min(kMostRuns, runs_.size());
      const std::size_t done = outbox_.list(cell, begin, runs.first(std::min(room, runs.size())), nullptr);
      if (done == 0) return 0;
      runs_.insert(runs_.end(), runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(done));
      if (parts_.empty() || parts_.back().sink != get.sink) parts_.push_back({get.sink, 0});
      parts_.back().runs += done;
      return done;
    });
    mine = listed;
  });
  return mine;
}

// ---- an owner's ----

void OutboxFetch::exchange(std::int64_t end) {
  {
    const StageTimer timer(f_.counters, Stage::exchange);
    for (auto& letter : letters_) letter.clear();
    for (auto& cells : asked_) cells.clear();
    rounds_.for_each_cell_of_rail(end, [&](std::int64_t cell, int node) {
      const std::span<const std::byte> message = outbox_.message(cell);
      if (message.empty()) return;
      if (node == f_.node) {
        if (!ask(node, cell, message))
          status_.update({Code::internal, "a message within a node was not well-formed"});
        return;
      }
      const auto out = add_cell(letters_[static_cast<std::size_t>(node)], cell, message.size());
      std::memcpy(out.data(), message.data(), message.size());
    });
    status_.update(f_.rail->post(
        written_letters(letters_),
        [&](int node, std::span<const std::byte> letter) {
          auto& kept = received_[static_cast<std::size_t>(node)];
          kept.assign(letter.begin(), letter.end());
          return for_each_cell(kept, [&](std::int64_t cell, std::span<const std::byte> message) {
            return ask(node, cell, message);
          });
        },
        f_.counters));
  }
  // After a failure the rounds go on, so that nobody waits in vain, but this owner reads no more.
  if (status_.ok()) read(end);
  const StageTimer timer(f_.counters, Stage::exchange);
  for (auto& letter : letters_) letter.clear();
  for (int n = 0; n < f_.nodes; ++n) answer(n);
  forget_marks(end);
  status_.update(f_.rail->post(
      written_letters(letters_),
      [&](int, std::span<const std::byte> letter) {
        return for_each_cell(letter, [&](std::int64_t cell, std::span<const std::byte> bytes) {
          if (cell >= outbox_.rounds().cells()) return false;
          const auto place = outbox_.place_answer(cell, static_cast<std::int64_t>(bytes.size()));
          std::memcpy(place.data(), bytes.data(), bytes.size());
          return true;
        });
      },
      f_.counters));
}

bool OutboxFetch::ask(int node, std::int64_t cell, std::span<const std::byte> message) {
  Rounds::Place place;
  if (!rounds_.find(cell, place)) return false;
  const DomainPart whole{0, outbox_.rounds().cell, {}};
  std::int64_t bytes = 0;
  if (!unpack_request(message, {&whole, 1}, 0, shift_, place.slot.marks + (place.at >> shift_) / 64, bytes))
    return false;
  asked_[static_cast<std::size_t>(node)].push_back({cell, message, bytes, place.slot.buffer + place.at});
  return true;
}

// Near parts together with what lies between them.
void OutboxFetch::read(std::int64_t end) {
  const StageTimer timer(f_.counters, Stage::read);
  const auto& blocks = rounds_.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Extent here{std::max(blocks[i].begin, rounds_.base()), std::min(blocks[i].end, end)};
    if (here.empty()) continue;
    const Outbox::Slot slot = outbox_.slot(outbox_.parity(), f_.aggregator, static_cast<std::int64_t>(i));
    Extent part{};
    const auto read_part = [&] {
      if (part.empty() || !status_.ok()) return;
      f_.counters.count_read(part.size());
      status_.update(f_.storage.read(part.begin, slot.buffer + (part.begin - blocks[i].begin), part.size()));
    };
    for_each_bit_run(slot.marks, (here.begin - blocks[i].begin) >> shift_,
                     (here.end - blocks[i].begin) >> shift_, [&](std::int64_t bit, std::int64_t bits) {
                       const std::int64_t begin = blocks[i].begin + (bit << shift_);
                       const std::int64_t stop = begin + (bits << shift_);
                       if (!part.empty() && begin - part.end <= gap_) {
                         part.end = stop;
                         return;
                       }
                       read_part();
                       part = {begin, stop};
                     });
    read_part();
  }
}

void OutboxFetch::answer(int node) {
  const DomainPart whole{0, outbox_.rounds().cell, {}};
  for (const Asked& asked : asked_[static_cast<std::size_t>(node)]) {
    const auto out = node == f_.node ? outbox_.place_answer(asked.cell, asked.bytes)
                                     : add_cell(letters_[static_cast<std::size_t>(node)], asked.cell,
                                                static_cast<std::size_t>(asked.bytes));
    pack_answer(asked.message, {&whole, 1}, 0, shift_, asked.data, out.data());
    copied(1, asked.bytes);
  }
}

void OutboxFetch::forget_marks(std::int64_t end) {
  const auto& blocks = rounds_.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Extent here{std::max(blocks[i].begin, rounds_.base()), std::min(blocks[i].end, end)};
    if (here.empty()) continue;
    const Outbox::Slot slot = outbox_.slot(outbox_.parity(), f_.aggregator, static_cast<std::int64_t>(i));
    Outbox::clear_marks(slot, here.begin - blocks[i].begin, here.end - blocks[i].begin, shift_);
  }
}

// ---- a rank's ----

void OutboxFetch::pick(std::int64_t end) {
  const StageTimer timer(f_.counters, Stage::pick);
  const std::int64_t cell = rounds_.cell_of(end);
  const std::span<const std::byte> bytes = outbox_.listed_bytes(cell);
  std::size_t run = 0, part = 0;
  std::int64_t at = 0;
  attempt([&] {
    constexpr std::size_t batch = 512;
    while (at < static_cast<std::int64_t>(bytes.size()) && part < parts_.size()) {
      Part& from = parts_[part];
      std::size_t n = 0;
      const std::int64_t begin = at;
      // As many of its runs as are there, at where their bytes lie.
      while (n < batch && n < from.runs && at < static_cast<std::int64_t>(bytes.size())) {
        Run& next = runs_[run + n];
        next.file = at - begin;
        at += next.length;
        ++n;
      }
      from.sink->consume({runs_.data() + run, n}, bytes.data() + begin, 0);
      f_.counters.get_pieces += static_cast<std::int64_t>(n);
      run += n;
      from.runs -= n;
      if (from.runs == 0) ++part;
    }
  });
  f_.counters.get_bytes += at;
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(run));
  parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(part));
  outbox_.drop_before(cell);
}

}  // namespace forebay
