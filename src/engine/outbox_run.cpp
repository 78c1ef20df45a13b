// The wide rounds of a flush.
#include "engine/outbox_run.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/section.hpp"
#include "engine/indispensable.hpp"
#include "exchange/packing.hpp"
#include "request/active_set.hpp"
#include "request/work.hpp"

namespace forebay {
namespace {

constexpr std::size_t kBatch = 512;

/// Before the message of each cell in a letter.
struct CellHead {
  std::uint32_t cell;
  std::uint32_t bytes;
};

Extent common(Extent a, Extent b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

OutboxRun::OutboxRun(const Flush& flush, Outbox& outbox, std::span<const Put> puts)
    : f_(flush),
      outbox_(outbox),
      rounds_(outbox.rounds()),
      wide_(flush.domains.in_rounds_of(outbox.rounds().range)) {
  attempt([&] {
    active_ = std::make_unique<ActiveSet>(puts);
    active_->start(rounds_.cell);
  });
}

OutboxRun::~OutboxRun() = default;

// As in FlushRun: a rank without memory gives up its part, never its place.
template <class Work>
void OutboxRun::attempt(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    status_.update({Code::no_memory, "no memory for a part of a collective write"});
    active_.reset();
    pending_.clear();
  }
}

Status OutboxRun::run(std::int64_t first, int shift) {
  shift_ = rounds_.granule(shift);
  f_.window.set_failed(false);
  outbox_.drop_all();
  const bool exchanges = f_.rail != nullptr;
  const bool writes = f_.writes_for >= 0;
  const bool behind = writes && f_.writes_for != f_.aggregator;
  if (exchanges || writes) f_.counters.aggregator = 1;
  indispensable([&] {
    if (exchanges) letters_.resize(static_cast<std::size_t>(f_.nodes));
    if (writes) writer_ = std::make_unique<StripeWriter>(f_, f_.domains.stripe_bytes());
  });
  open_range(first);
  base_ = first / rounds_.cell * rounds_.cell;

  Arrived arrived;  // the round before, where another rank exchanges
  for (bool last = false; !last;) {
    const TraceSpan span(f_.counters, Span::round, base_ / rounds_.cell);
    const Course mine = list();
    ++f_.sequence;
    if (outbox_.is_first()) outbox_.begin_merging();
    const Course course = agree(mine);
    if (outbox_.is_first()) outbox_.forget_next_stop();
    {
      const StageTimer timer(f_.counters, Stage::scatter);
      const Outbox::Merged merged = outbox_.merge(cell_of(base_), cell_of(course.end), shift_);
      f_.counters.node_runs += merged.runs;
      f_.counters.node_bytes += merged.bytes;
    }
    {
      const StageTimer timer(f_.counters, Stage::node_wait);
      f_.window.barrier();
    }
    outbox_.drop_before(cell_of(course.end));
    // After a failure the rounds go on, so that nobody waits in vain.
    if (behind) {
      write(arrived);
      indispensable([&] { arrived = {outbox_.parity(), blocks_, {base_, course.end}}; });
    }
    if (exchanges) {
      indispensable([&] { exchange(course.end); });
      ++f_.counters.rounds;
      ++f_.counters.wide_rounds;
    }
    if (writes && !behind) indispensable([&] { write({outbox_.parity(), blocks_, {base_, course.end}}); });
    outbox_.pass();
    last = course.next == kNoOffset;
    if (last) break;
    if (course.next >= range_.end) open_range(course.next);
    base_ = course.next / rounds_.cell * rounds_.cell;
  }
  {
    const StageTimer timer(f_.counters, Stage::node_wait);
    f_.window.barrier();  // aggregators have the last round, which others may write
  }
  if (behind) write(arrived);
  conclude();
  return std::move(status_);
}

void OutboxRun::open_range(std::int64_t at) {
  range_.begin = wide_.round_begin(at);
  range_.end = range_.begin + rounds_.range;
  const int rail = std::max(f_.aggregator, f_.writes_for);
  blocks_.clear();
  if (rail < 0) return;
  indispensable([&] {
    wide_.for_each_part(range_.begin, range_, [&](const DomainPart& part) {
      if (part.owner == Owner{f_.node, rail}) blocks_.push_back({part.begin, part.end});
    });
  });
}

// ---- listing ----

// As far as memory allows, and no further than others of the node: what lies behind that is not for this
// round.
OutboxRun::Course OutboxRun::list() {
  const StageTimer timer(f_.counters, Stage::scatter);
  Course mine{range_.end, kNoOffset};
  if (!active_) return mine;
  const Section section;  // the requests may be kept ones
  const auto begin_of = [&](std::int64_t cell) { return range_.begin + cell * rounds_.cell; };
  attempt([&] {
    for (;;) {
      const std::int64_t next = pending_.empty() ? active_->next() : begin_of(pending_cell_);
      mine = {range_.end, next};
      if (next >= range_.end) return;
      const std::int64_t cell = cell_of(next);
      mine.end = begin_of(cell);
      if (cell >= outbox_.stop()) return;
      if (pending_.empty() && !outbox_.has_room()) return outbox_.stop_before(cell);
      if (list_cell(cell)) continue;
      mine = {begin_of(cell + 1), begin_of(cell)};  // the rest of it comes in another round
      return outbox_.stop_before(cell + 1);
    }
  });
  return active_ ? mine : Course{range_.end, kNoOffset};
}

// False: there was no room for all of it.
bool OutboxRun::list_cell(std::int64_t cell) {
  const std::int64_t begin = range_.begin + cell * rounds_.cell;
  const std::int64_t end = begin + rounds_.cell;
  const auto put_runs = [&](const Put& put, std::span<const Run> runs) {
    const std::size_t done = outbox_.list(cell, begin, runs, *put.source);
    f_.counters.pieces += static_cast<std::int64_t>(done);
    for (const Run& run : runs.first(done)) f_.counters.bytes += run.length;
    return done;
  };
  if (!pending_.empty()) {
    const std::size_t done = put_runs(pending_put_, pending_);
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
    if (!pending_.empty()) return false;
  }
  std::array<Run, kBatch> batch;
  active_->visit(end, [&](const Put& put) {
    while (pending_.empty()) {
      const std::size_t n = put.cursor->take(end, batch);
      if (n == 0) return;
      const std::span<const Run> runs(batch.data(), n);
      const std::size_t done = put_runs(put, runs);
      if (done == n) continue;
      pending_put_ = put;
      pending_cell_ = cell;
      pending_.assign(runs.begin() + static_cast<std::ptrdiff_t>(done), runs.end());
    }
  });
  return pending_.empty();
}

// How far the round reaches, by the rank that comes least far: to a whole stripe, where it gets so far.
OutboxRun::Course OutboxRun::agree(Course mine) {
  std::array<std::int64_t, 2> values{mine.end, mine.next};
  {
    const StageTimer timer(f_.counters, Stage::node_wait);
    f_.window.agree(values);
  }
  if (f_.aggregator != 0) {
    const StageTimer timer(f_.counters, Stage::node_wait);
    const NodeWindow::Course course = f_.window.await(f_.sequence);
    return {course.end, course.next};
  }
  {
    const StageTimer timer(f_.counters, Stage::exchange);
    status_.update(f_.rail->least(values));
  }
  auto [end, next] = values;
  if (end < range_.end) {
    const std::int64_t stripe = f_.domains.stripe_bytes();
    if (const std::int64_t whole = end / stripe * stripe; whole > base_) end = whole;
    next = std::min(next, end);  // somebody has listed more
  }
  f_.window.announce(f_.sequence, {next, end});
  return {end, next};
}

// ---- exchange ----

void OutboxRun::exchange(std::int64_t end) {
  const StageTimer timer(f_.counters, Stage::exchange);
  for (auto& letter : letters_) letter.clear();
  const Extent round{base_, end};
  wide_.for_each_part(range_.begin, round, [&](const DomainPart& part) {
    if (part.owner.rail != f_.aggregator) return;
    const std::int64_t last = cell_of(part.end);
    for (std::int64_t cell = cell_of(part.begin); cell < last; ++cell) {
      const std::span<const std::byte> message = outbox_.message(cell);
      if (message.empty()) continue;
      if (part.owner.node == f_.node) {
        if (!put_in_slot(cell, message))
          status_.update({Code::internal, "a message within a node was not well-formed"});
        continue;
      }
      auto& letter = letters_[static_cast<std::size_t>(part.owner.node)];
      const CellHead head{static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(message.size())};
      const std::size_t at = letter.size();
      letter.resize(at + sizeof head + message.size());
      std::memcpy(letter.data() + at, &head, sizeof head);
      std::memcpy(letter.data() + at + sizeof head, message.data(), message.size());
      copied(1, static_cast<std::int64_t>(message.size()));
      f_.counters.header_bytes += std::int64_t{sizeof head} + header_bytes(message);
    }
  });
  std::vector<Rail::Letter> letters;
  for (int n = 0; n < f_.nodes; ++n) {
    const auto& letter = letters_[static_cast<std::size_t>(n)];
    if (!letter.empty()) letters.push_back({n, letter});
  }
  status_.update(f_.rail->post(
      letters, [&](int, std::span<const std::byte> letter) { return take(letter); }, f_.counters));
}

bool OutboxRun::take(std::span<const std::byte> letter) {
  while (!letter.empty()) {
    CellHead head{};
    if (letter.size() < sizeof head) return false;
    std::memcpy(&head, letter.data(), sizeof head);
    letter = letter.subspan(sizeof head);
    if (letter.size() < head.bytes || !put_in_slot(head.cell, letter.first(head.bytes))) return false;
    letter = letter.subspan(head.bytes);
  }
  return true;
}

bool OutboxRun::put_in_slot(std::int64_t cell, std::span<const std::byte> message) {
  const std::int64_t at = range_.begin + cell * rounds_.cell;
  const auto block = std::ranges::upper_bound(blocks_, at, {}, &Block::begin);
  if (block == blocks_.begin()) return false;
  const auto number = block - blocks_.begin() - 1;
  const Block& mine = blocks_[static_cast<std::size_t>(number)];
  if (at >= mine.end) return false;
  const Outbox::Slot slot = outbox_.slot(outbox_.parity(), f_.aggregator, number);
  return outbox_.unpack(message, slot, at - mine.begin, shift_);
}

// ---- writing ----

void OutboxRun::write(const Arrived& round) {
  const StageTimer timer(f_.counters, Stage::write);
  const std::int64_t before = f_.counters.writes;
  for (std::size_t i = 0; i < round.blocks.size(); ++i) {
    const Block& block = round.blocks[i];
    const Extent part = common({block.begin, block.end}, round.range);
    if (part.empty()) continue;
    const Outbox::Slot slot = outbox_.slot(round.parity, f_.writes_for, static_cast<std::int64_t>(i));
    const DomainPart written{part.begin, part.end, {f_.node, f_.writes_for}};
    std::int64_t runs = 0;
    if (status_.ok()) {
      attempt([&] {
        status_.update(writer_->write({&written, 1}, {block.begin, slot.buffer, slot.marks, shift_}, runs));
      });
    }
    // Whatever became of it, the next round finds none.
    Outbox::clear_marks(slot, part.begin - block.begin, part.end - block.begin, shift_);
  }
  writer_->done();
  if (f_.counters.writes > before) ++f_.counters.owner_rounds;
}

void OutboxRun::conclude() {
  if (!status_.ok()) f_.window.set_failed(true);
  const StageTimer timer(f_.counters, Stage::node_wait);
  f_.window.barrier();
  const int failed = f_.window.failed_rank();
  if (failed >= 0 && status_.ok())
    status_ = {Code::peer, "rank " + std::to_string(failed) + " of this node could not write its part"};
}

}  // namespace forebay
