// What wide rounds of writing and of reading have in common: how far a round reaches in the file, what of it
// this rank has listed, and which blocks of it are an owner's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/section.hpp"
#include "engine/flush.hpp"
#include "engine/indispensable.hpp"
#include "exchange/outbox.hpp"
#include "request/active_set.hpp"

namespace forebay {

/// Calls f(cell, message) for the cells of a letter, as long as it returns true. False: it did not, or the
/// letter is not well-formed.
template <class F>
bool for_each_cell(std::span<const std::byte> letter, F&& f) {
  while (!letter.empty()) {
    CellHead head{};
    if (letter.size() < sizeof head) return false;
    std::memcpy(&head, letter.data(), sizeof head);
    letter = letter.subspan(sizeof head);
    if (letter.size() < head.bytes || !f(std::int64_t{head.cell}, letter.first(head.bytes))) return false;
    letter = letter.subspan(head.bytes);
  }
  return true;
}

/// Adds a cell's message to a letter: where its `bytes` bytes go.
inline std::span<std::byte> add_cell(std::vector<std::byte>& letter, std::int64_t cell, std::size_t bytes) {
  const CellHead head{static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(bytes)};
  const std::size_t at = letter.size();
  letter.resize(at + sizeof head + bytes);
  std::memcpy(letter.data() + at, &head, sizeof head);
  return {letter.data() + at + sizeof head, bytes};
}

/// Letters that have something in them, for Rail::post.
inline std::vector<Rail::Letter> written_letters(const std::vector<std::vector<std::byte>>& letters) {
  std::vector<Rail::Letter> written;
  for (std::size_t n = 0; n < letters.size(); ++n) {
    if (!letters[n].empty()) written.push_back({static_cast<int>(n), letters[n]});
  }
  return written;
}

/// One rank's, of Put or Get.
template <class Item>
class OutboxRounds {
 public:
  /// Of the round that is listed.
  struct Course {
    std::int64_t end;   ///< of what it holds
    std::int64_t next;  ///< where the next one begins; kNoOffset: it was the last
  };
  struct Block {
    std::int64_t begin, end;
  };

  OutboxRounds(const Flush& flush, Outbox& outbox)
      : f_(flush),
        outbox_(outbox),
        rounds_(outbox.rounds()),
        wide_(flush.domains.in_rounds_of(outbox.rounds().range)) {}

  /// May throw bad_alloc; without it this rank lists nothing.
  void take(std::span<const Item> items) {
    active_ = std::make_unique<ActiveItems<Item>>(items);
    active_->start(rounds_.cell);
  }
  /// A rank without memory gives up its part, never its place.
  void give_up() {
    active_.reset();
    pending_.clear();
  }

  /// `first`: nobody has anything before it.
  void begin(std::int64_t first) {
    outbox_.drop_all();
    open_range(first);
    base_ = first / rounds_.cell * rounds_.cell;
  }
  /// Where the next round begins.
  void go_on(std::int64_t next) {
    if (next >= range_.end) open_range(next);
    base_ = next / rounds_.cell * rounds_.cell;
  }

  std::int64_t base() const { return base_; }
  /// Of the file, whose slots the round has.
  const Extent& range() const { return range_; }
  std::int64_t cell_of(std::int64_t offset) const { return (offset - range_.begin) / rounds_.cell; }
  std::int64_t begin_of(std::int64_t cell) const { return range_.begin + cell * rounds_.cell; }
  /// Of the owner for whom this rank exchanges or writes, in the order of slots.
  const std::vector<Block>& blocks() const { return blocks_; }

  /// As far as memory allows, and no further than others of the node: what lies behind that is not for this
  /// round. `list_runs(item, cell, begin, runs)` returns how many runs fitted.
  template <class ListRuns>
  Course list(ListRuns&& list_runs) {
    Course mine{range_.end, kNoOffset};
    if (!active_) return mine;
    const Section section;  // the requests may be kept ones
    for (;;) {
      const std::int64_t next = pending_.empty() ? active_->next() : begin_of(pending_cell_);
      mine = {range_.end, next};
      if (next >= range_.end) return mine;
      const std::int64_t cell = cell_of(next);
      mine.end = begin_of(cell);
      if (cell >= outbox_.stop()) return mine;
      if (pending_.empty() && !outbox_.has_room()) {
        outbox_.stop_before(cell);
        return mine;
      }
      if (list_cell(cell, list_runs)) continue;
      outbox_.stop_before(cell + 1);
      return {begin_of(cell + 1), begin_of(cell)};  // the rest of it comes in another round
    }
  }

  /// How far the round reaches, by the rank that comes least far: to a whole stripe, where it gets so far.
  Course agree(Course mine, Status& status) {
    std::array<std::int64_t, 2> values{mine.end, mine.next};
    ++f_.sequence;
    if (outbox_.is_first()) outbox_.begin_merging();
    {
      const StageTimer timer(f_.counters, Stage::node_wait);
      f_.window.agree(values);
    }
    if (outbox_.is_first()) outbox_.forget_next_stop();
    if (f_.aggregator != 0) {
      const StageTimer timer(f_.counters, Stage::node_wait);
      const NodeWindow::Course course = f_.window.await(f_.sequence);
      return {course.end, course.next};
    }
    {
      const StageTimer timer(f_.counters, Stage::exchange);
      status.update(f_.rail->least(values));
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

  /// Calls f(cell, node) for the cells up to `end` that owners of this rank's rail have.
  template <class F>
  void for_each_cell_of_rail(std::int64_t end, F&& f) const {
    wide_.for_each_part(range_.begin, {base_, end}, [&](const DomainPart& part) {
      if (part.owner.rail != f_.aggregator) return;
      const std::int64_t last = cell_of(part.end);
      for (std::int64_t cell = cell_of(part.begin); cell < last; ++cell) f(cell, part.owner.node);
    });
  }

  /// Where a cell lies in a slot of this owner.
  struct Place {
    Outbox::Slot slot;
    std::int64_t at;  ///< bytes after the slot's begin
  };
  /// False: it is not this owner's.
  bool find(std::int64_t cell, Place& place) const {
    const std::int64_t at = begin_of(cell);
    const auto block = std::ranges::upper_bound(blocks_, at, {}, &Block::begin);
    if (block == blocks_.begin()) return false;
    const auto number = block - blocks_.begin() - 1;
    const Block& mine = blocks_[static_cast<std::size_t>(number)];
    if (at >= mine.end) return false;
    place = {outbox_.slot(outbox_.parity(), f_.aggregator, number), at - mine.begin};
    return true;
  }

 private:
  static constexpr std::size_t kBatch = 512;

  // False: there was no room for all of it.
  template <class ListRuns>
  bool list_cell(std::int64_t cell, ListRuns& list_runs) {
    const std::int64_t begin = begin_of(cell);
    if (!pending_.empty()) {
      const std::size_t done = list_runs(pending_item_, cell, begin, std::span<const Run>(pending_));
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
      if (!pending_.empty()) return false;
    }
    std::array<Run, kBatch> batch;
    active_->visit(begin + rounds_.cell, [&](const Item& item) {
      while (pending_.empty()) {
        const std::size_t n = item.cursor->take(begin + rounds_.cell, batch);
        if (n == 0) return;
        const std::span<const Run> runs(batch.data(), n);
        const std::size_t done = list_runs(item, cell, begin, runs);
        if (done == n) continue;
        pending_item_ = item;
        pending_cell_ = cell;
        pending_.assign(runs.begin() + static_cast<std::ptrdiff_t>(done), runs.end());
      }
    });
    return pending_.empty();
  }

  void open_range(std::int64_t at) {
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

  const Flush& f_;
  Outbox& outbox_;
  const WideRounds& rounds_;
  FileDomains wide_;
  std::unique_ptr<ActiveItems<Item>> active_;  // null where memory lacks
  Extent range_{0, 0};
  std::int64_t base_ = 0;  // the round begins there
  std::vector<Block> blocks_;
  // What was taken from a cursor and did not fit:
  Item pending_item_;
  std::int64_t pending_cell_ = 0;
  std::vector<Run> pending_;
};

}  // namespace forebay
