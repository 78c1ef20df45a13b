// The wide rounds of a flush.
#include "engine/outbox_run.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "engine/indispensable.hpp"
#include "exchange/packing.hpp"
#include "request/work.hpp"

namespace forebay {
namespace {

Extent common(Extent a, Extent b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

OutboxRun::OutboxRun(const Flush& flush, Outbox& outbox, std::span<const Put> puts)
    : f_(flush), outbox_(outbox), rounds_(f_, outbox) {
  attempt([&] { rounds_.take(puts); });
}

// As in FlushRun: a rank without memory gives up its part, never its place.
template <class Work>
void OutboxRun::attempt(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    status_.update({Code::no_memory, "no memory for a part of a collective write"});
    rounds_.give_up();
  }
}

Status OutboxRun::run(std::int64_t first, int shift) {
  shift_ = outbox_.rounds().granule(shift);
  f_.window.set_failed(false);
  const bool exchanges = f_.rail != nullptr;
  const bool writes = f_.writes_for >= 0;
  const bool behind = writes && f_.writes_for != f_.aggregator;
  if (f_.domains.owns({f_.node, f_.aggregator}) || f_.domains.owns({f_.node, f_.writes_for}))
    f_.counters.aggregator = 1;
  indispensable([&] {
    if (exchanges) letters_.resize(static_cast<std::size_t>(f_.nodes));
    if (writes) writer_ = std::make_unique<StripeWriter>(f_, f_.domains.stripe_bytes());
  });
  rounds_.begin(first);

  Arrived arrived;  // the round before, where another rank exchanges
  for (;;) {
    const TraceSpan span(f_.counters, Span::round, rounds_.base() / f_.domains.stripe_bytes());
    const Rounds::Course course = rounds_.agree(list(), status_);
    {
      const StageTimer timer(f_.counters, Stage::scatter);
      const Outbox::Merged merged =
          outbox_.merge(rounds_.cell_of(rounds_.base()), rounds_.cell_of(course.end), shift_);
      f_.counters.node_runs += merged.runs;
      f_.counters.node_bytes += merged.bytes;
    }
    {
      const StageTimer timer(f_.counters, Stage::node_wait);
      f_.window.barrier();
    }
    outbox_.drop_before(rounds_.cell_of(course.end));
    // After a failure the rounds go on, so that nobody waits in vain.
    if (behind) {
      write(arrived);
      indispensable([&] { arrived = {outbox_.parity(), rounds_.blocks(), {rounds_.base(), course.end}}; });
    }
    if (exchanges) {
      indispensable([&] { exchange(course.end); });
      ++f_.counters.rounds;
      ++f_.counters.wide_rounds;
    }
    if (writes && !behind) {
      indispensable([&] { write({outbox_.parity(), rounds_.blocks(), {rounds_.base(), course.end}}); });
    }
    outbox_.pass();
    if (course.next == kNoOffset) break;
    rounds_.go_on(course.next);
  }
  {
    const StageTimer timer(f_.counters, Stage::node_wait);
    f_.window.barrier();  // aggregators have the last round, which others may write
  }
  if (behind) write(arrived);
  return outcome_of_node(f_, std::move(status_));
}

OutboxRun::Rounds::Course OutboxRun::list() {
  const StageTimer timer(f_.counters, Stage::scatter);
  Rounds::Course mine{rounds_.range().end, kNoOffset};
  attempt([&] {
    mine =
        rounds_.list([&](const Put& put, std::int64_t cell, std::int64_t begin, std::span<const Run> runs) {
          const std::size_t done = outbox_.list(cell, begin, runs, put.source);
          f_.counters.pieces += static_cast<std::int64_t>(done);
          for (const Run& run : runs.first(done)) f_.counters.bytes += run.length;
          return done;
        });
  });
  return mine;
}

void OutboxRun::exchange(std::int64_t end) {
  const StageTimer timer(f_.counters, Stage::exchange);
  for (auto& letter : letters_) letter.clear();
  rounds_.for_each_cell_of_rail(end, [&](std::int64_t cell, int node) {
    const std::span<const std::byte> message = outbox_.message(cell);
    if (message.empty()) return;
    if (node == f_.node) {
      if (!put_in_slot(cell, message))
        status_.update({Code::internal, "a message within a node was not well-formed"});
      return;
    }
    const auto out = add_cell(letters_[static_cast<std::size_t>(node)], cell, message.size());
    std::memcpy(out.data(), message.data(), message.size());
    copied(1, static_cast<std::int64_t>(message.size()));
    f_.counters.header_bytes += std::int64_t{sizeof(CellHead)} + header_bytes(message);
  });
  status_.update(f_.rail->post(
      written_letters(letters_),
      [&](int, std::span<const std::byte> letter) {
        return for_each_cell(letter, [&](std::int64_t cell, std::span<const std::byte> message) {
          return put_in_slot(cell, message);
        });
      },
      f_.counters));
}

bool OutboxRun::put_in_slot(std::int64_t cell, std::span<const std::byte> message) {
  Rounds::Place place;
  return rounds_.find(cell, place) && outbox_.unpack(message, place.slot, place.at, shift_);
}

// ---- writing ----

void OutboxRun::write(const Arrived& round) {
  const StageTimer timer(f_.counters, Stage::write);
  const std::int64_t before = f_.counters.writes;
  for (std::size_t i = 0; i < round.blocks.size(); ++i) {
    const Rounds::Block& block = round.blocks[i];
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

}  // namespace forebay
