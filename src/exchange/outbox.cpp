// The outbox's memory layout, lists of runs, and the merging of cells.
#include "exchange/outbox.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "exchange/dirty_map.hpp"
#include "exchange/memory_part.hpp"
#include "exchange/packing.hpp"
#include "request/work.hpp"

namespace forebay {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBatch = 512;
// Lists are bytes, and so many entries: with pieces of 4 bytes both fill up together.
constexpr std::int64_t kBytesAnEntry = 4;
constexpr std::int64_t kMostRows = 1 << 14;

std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

std::int64_t entries_in(const WideRounds& rounds) {
  return rounds.listed / kBytesAnEntry;
}
std::int64_t rows_in(const WideRounds& rounds) {
  return std::min({rounds.cells(), entries_in(rounds), kMostRows});
}
std::int64_t mark_words(const WideRounds& rounds) {
  return rounds.block / 64;
}

/// Whether a rank that has listed so much goes on to another cell: mostly there is little of one; where it
/// does not fit, its rest comes in the next round.
bool goes_on(const WideRounds& rounds, std::int64_t rows, std::int64_t entries, std::int64_t bytes) {
  return rows < rows_in(rounds) && bytes <= rounds.listed / 4 * 3 &&
         entries + static_cast<std::int64_t>(kBatch) <= entries_in(rounds);
}

void copy_piece(std::byte* to, const std::byte* from, std::uint32_t length) {
  if (length == 4) {
    std::memcpy(to, from, 4);
  } else if (length == 8) {
    std::memcpy(to, from, 8);
  } else {
    std::memcpy(to, from, length);
  }
}

}  // namespace

struct Outbox::Places {
  std::size_t lists, one_list, messages, packed, slots, end;
};

Outbox::Places Outbox::places(const WideRounds& rounds, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const auto listed = static_cast<std::size_t>(rounds.listed);
  const auto entries = static_cast<std::size_t>(entries_in(rounds));
  Places p{};
  p.lists = round_up(sizeof(Control), kPage);
  p.one_list =
      round_up(sizeof(List) + static_cast<std::size_t>(rows_in(rounds)) * sizeof(Row), alignof(List)) +
      entries * sizeof(Entry) + listed;
  p.one_list = round_up(p.one_list, kPage);
  p.messages = p.lists + count * p.one_list;
  p.packed = round_up(p.messages + static_cast<std::size_t>(rounds.cells()) * sizeof(Message), kPage);
  // The most that all lists together can become: a run's delta takes 7 bytes at most, and a message a prefix.
  const std::size_t prefixes =
      std::min(count * static_cast<std::size_t>(rows_in(rounds)), static_cast<std::size_t>(rounds.cells()));
  p.slots = round_up(p.packed + count * (listed + 7 * entries) + 16 * prefixes, kPage);
  const auto slots = static_cast<std::size_t>(2 * rounds.rails * rounds.slots);
  p.end = p.slots + slots * static_cast<std::size_t>(rounds.block + mark_words(rounds) * 8);
  return p;
}

std::size_t Outbox::bytes_needed(const WideRounds& rounds, int ranks) {
  return places(rounds, ranks).end;
}

std::vector<Extent> Outbox::share_of(int rank, int rail, const WideRounds& rounds, int ranks) {
  const Places p = places(rounds, ranks);
  const auto extent = [](std::size_t begin, std::size_t end) {
    return Extent{static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
  };
  std::vector<Extent> share;
  if (rank == 0) share.push_back(extent(0, p.lists));
  const std::size_t list = p.lists + static_cast<std::size_t>(rank) * p.one_list;
  share.push_back(extent(list, list + p.one_list));
  share.push_back(memory_part(p.messages, p.packed, ranks, rank));
  share.push_back(memory_part(p.packed, p.slots, ranks, rank));
  const auto rails = static_cast<std::size_t>(rounds.rails);
  const std::size_t of_rail = (p.end - p.slots) / (2 * rails);
  for (std::size_t parity = 0; parity < 2 && rail >= 0; ++parity) {
    const std::size_t at = p.slots + (parity * rails + static_cast<std::size_t>(rail)) * of_rail;
    share.push_back(extent(at, at + of_rail));
  }
  return share;
}

std::int64_t Outbox::cells_listed(const WideRounds& rounds, double bytes, double runs) {
  const auto of = [](std::int64_t cells, double each) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(cells) * each));
  };
  std::int64_t cells = 1;
  while (cells < rounds.cells() && goes_on(rounds, cells, of(cells, runs), of(cells, bytes)) &&
         of(cells + 1, bytes) <= rounds.listed && of(cells + 1, runs) <= entries_in(rounds))
    ++cells;
  return cells;
}

Outbox::Outbox(void* memory, const WideRounds& rounds, int ranks, int rank)
    : rounds_(rounds), ranks_(ranks), rank_(rank) {
  const Places p = places(rounds, ranks);
  auto* const at = static_cast<std::byte*>(memory);
  control_ = reinterpret_cast<Control*>(at);
  lists_ = at + p.lists;
  list_bytes_ = p.one_list;
  messages_ = reinterpret_cast<Message*>(at + p.messages);
  packed_ = at + p.packed;
  slots_ = at + p.slots;
  image_.resize(static_cast<std::size_t>(rounds.cell));
  marks_.resize(static_cast<std::size_t>(rounds.cell) / 64 + 1);
  next_rows_.resize(static_cast<std::size_t>(ranks));
  rows_before_.resize(static_cast<std::size_t>(ranks));
}

Outbox::List& Outbox::list_of(int rank) const {
  return *reinterpret_cast<List*>(lists_ + static_cast<std::size_t>(rank) * list_bytes_);
}
Outbox::Row* Outbox::rows_of(int rank) const {
  return reinterpret_cast<Row*>(reinterpret_cast<std::byte*>(&list_of(rank)) + sizeof(List));
}
Outbox::Entry* Outbox::entries_of(int rank) const {
  const std::size_t before =
      round_up(sizeof(List) + static_cast<std::size_t>(rows_in(rounds_)) * sizeof(Row), alignof(List));
  return reinterpret_cast<Entry*>(reinterpret_cast<std::byte*>(&list_of(rank)) + before);
}
std::byte* Outbox::bytes_of(int rank) const {
  return reinterpret_cast<std::byte*>(entries_of(rank) + entries_in(rounds_));
}

// ---- listing ----

bool Outbox::has_room() const {
  const std::int64_t count = rows();
  if (count == 0) return true;
  const Row& last = rows_of(rank_)[count - 1];
  return goes_on(rounds_, count, last.entries, last.bytes);
}

std::size_t Outbox::list(std::int64_t cell, std::int64_t begin, std::span<const Run> runs, Source* source) {
  if (runs.empty()) return 0;
  List& list = own();
  Row* const rows = rows_of(rank_);
  const auto number = static_cast<std::uint32_t>(cell);
  if (list.rows == 0 || rows[list.rows - 1].cell != number) {
    if (list.rows == rows_in(rounds_)) return 0;
    const Row last = list.rows == 0 ? Row{} : rows[list.rows - 1];
    rows[list.rows++] = {number, last.entries, last.bytes};
  }
  Row& row = rows[list.rows - 1];
  const std::uint32_t first_entry = list.rows > 1 ? rows[list.rows - 2].entries : 0;
  Entry* const entries = entries_of(rank_);
  std::byte* const bytes = bytes_of(rank_);
  std::array<Run, kBatch> moved;
  std::size_t done = 0;
  while (done < runs.size()) {
    const std::uint32_t from = row.bytes;
    const std::uint32_t entries_before = row.entries;
    const Entry last = entries_before > first_entry ? entries[entries_before - 1] : Entry{};
    std::size_t n = 0;
    while (done < runs.size() && n < moved.size()) {
      const Run& run = runs[done];
      if (row.bytes + run.length > rounds_.listed) break;
      const auto at = static_cast<std::uint32_t>(run.file - begin);
      const auto length = static_cast<std::uint32_t>(run.length);
      if (row.entries > first_entry &&
          entries[row.entries - 1].begin + entries[row.entries - 1].length == at) {
        entries[row.entries - 1].length += length;
      } else {
        if (row.entries == entries_in(rounds_)) break;
        entries[row.entries++] = {at, length};
      }
      // To where the list ends, instead of to its place in the file.
      moved[n++] = {row.bytes, run.stream, run.length};
      row.bytes += length;
      ++done;
    }
    if (n == 0) break;
    if (source == nullptr) continue;
    try {
      source->produce({moved.data(), n}, bytes + from, from);
    } catch (...) {  // what lies there are other bytes
      row.bytes = from;
      row.entries = entries_before;
      if (entries_before > first_entry) entries[entries_before - 1] = last;
      throw;
    }
  }
  return done;
}

void Outbox::stop_before(std::int64_t cell) {
  std::atomic<std::int64_t>& stop = control_->stops[parity_];
  std::int64_t seen = stop.load(std::memory_order_relaxed);
  while ((seen == 0 || cell + 1 < seen) &&
         !stop.compare_exchange_weak(seen, cell + 1, std::memory_order_relaxed)) {
  }
}

std::int64_t Outbox::stop() const {
  const std::int64_t stop = control_->stops[parity_].load(std::memory_order_relaxed);
  return stop == 0 ? rounds_.cells() : stop - 1;
}

void Outbox::forget_next_stop() {
  control_->stops[1 - parity_].store(0, std::memory_order_relaxed);
}

void Outbox::drop_before(std::int64_t cell) {
  List& list = own();
  Row* const rows = rows_of(rank_);
  std::int64_t gone = 0;
  while (gone < list.rows && rows[gone].cell < cell) ++gone;
  if (gone == 0) return;
  const Row last = rows[gone - 1];
  const Row end = rows[list.rows - 1];
  Entry* const entries = entries_of(rank_);
  std::byte* const bytes = bytes_of(rank_);
  std::memmove(entries, entries + last.entries, (end.entries - last.entries) * sizeof(Entry));
  std::memmove(bytes, bytes + last.bytes, end.bytes - last.bytes);
  for (std::int64_t i = gone; i < list.rows; ++i)
    rows[i - gone] = {rows[i].cell, rows[i].entries - last.entries, rows[i].bytes - last.bytes};
  list.rows -= gone;
}

// ---- merging ----

void Outbox::begin_merging() {
  control_->next_cell.store(0, std::memory_order_relaxed);
  control_->used.store(0, std::memory_order_relaxed);
}

// Cells that come to this rank, ascending.
template <class F>
void Outbox::for_each_cell_here(std::int64_t first, std::int64_t last, F&& f) {
  std::fill(next_rows_.begin(), next_rows_.end(), 0);
  for (;;) {
    const std::int64_t cell = first + control_->next_cell.fetch_add(1, std::memory_order_relaxed);
    if (cell >= last) return;
    f(cell);
  }
}

// What all ranks listed of a cell, in the order of ranks, with the place of its bytes. False: nothing.
template <class F>
bool Outbox::for_each_listed(std::int64_t cell, F&& f) {
  std::int64_t pieces = 0, moved = 0;
  for (int r = 0; r < ranks_; ++r) {
    const List& list = list_of(r);
    const Row* const rows = rows_of(r);
    std::int64_t& at = next_rows_[static_cast<std::size_t>(r)];
    while (at < list.rows && rows[at].cell < cell) ++at;
    if (at == list.rows || rows[at].cell != cell) continue;
    const Row begin = at == 0 ? Row{} : rows[at - 1];
    const Entry* const entries = entries_of(r);
    std::byte* bytes = bytes_of(r) + begin.bytes;
    pieces += rows[at].entries - begin.entries;
    moved += rows[at].bytes - begin.bytes;
    for (std::uint32_t e = begin.entries; e < rows[at].entries; ++e) {
      f(entries[e], bytes);
      bytes += entries[e].length;
    }
  }
  copied(pieces, moved);
  return moved > 0;
}

void Outbox::mark(const Entry& entry, int shift) {
  for_each_word(
      entry.begin >> shift, (std::int64_t{entry.begin} + entry.length) >> shift,
      [&](std::int64_t word, std::uint64_t bits) { marks_[static_cast<std::size_t>(word)] |= bits; });
}

void Outbox::clear_cell(int shift) {
  std::fill_n(marks_.begin(), (rounds_.cell >> shift) / 64, 0);
}

Outbox::Merged Outbox::merge(std::int64_t first, std::int64_t last, int shift) {
  const DomainPart whole{0, rounds_.cell, {}};
  Merged merged;
  for_each_cell_here(first, last, [&](std::int64_t cell) {
    messages_[cell] = {};
    const bool any = for_each_listed(cell, [&](const Entry& entry, const std::byte* bytes) {
      copy_piece(image_.data() + entry.begin, bytes, entry.length);
      mark(entry, shift);
    });
    if (!any) return;
    const PackPlan plan = plan_message({&whole, 1}, 0, shift, marks_.data());
    const std::int64_t at = control_->used.fetch_add(plan.total(), std::memory_order_relaxed);
    pack_message(plan, {&whole, 1}, 0, shift, marks_.data(), image_.data(), packed_ + at);
    messages_[cell] = {at, plan.total(), 0, 0};
    copied(plan.runs, plan.total());
    merged.runs += plan.runs;
    merged.bytes += plan.data_bytes;
    clear_cell(shift);
  });
  return merged;
}

void Outbox::merge_requests(std::int64_t first, std::int64_t last, int shift) {
  const DomainPart whole{0, rounds_.cell, {}};
  for_each_cell_here(first, last, [&](std::int64_t cell) {
    messages_[cell] = {};
    if (!for_each_listed(cell, [&](const Entry& entry, const std::byte*) { mark(entry, shift); })) return;
    const PackPlan plan = plan_message({&whole, 1}, 0, shift, marks_.data());
    const std::int64_t bytes = request_bytes(plan);
    const std::int64_t at = control_->used.fetch_add(bytes, std::memory_order_relaxed);
    pack_request(plan, {&whole, 1}, 0, shift, marks_.data(), packed_ + at);
    messages_[cell] = {at, bytes, 0, 0};
    clear_cell(shift);
  });
}

std::span<const std::byte> Outbox::message(std::int64_t cell) const {
  const Message& message = messages_[cell];
  return {packed_ + message.at, static_cast<std::size_t>(message.bytes)};
}

// ---- reading ----

std::span<std::byte> Outbox::place_answer(std::int64_t cell, std::int64_t bytes) {
  Message& message = messages_[cell];
  message.answer_at = control_->used.fetch_add(bytes, std::memory_order_relaxed);
  message.answer_bytes = bytes;
  return {packed_ + message.answer_at, static_cast<std::size_t>(bytes)};
}

void Outbox::begin_sharing() {
  control_->next_cell.store(0, std::memory_order_relaxed);
}

bool Outbox::share_out(std::int64_t first, std::int64_t last, int shift) {
  const DomainPart whole{0, rounds_.cell, {}};
  bool well = true;
  for_each_cell_here(first, last, [&](std::int64_t cell) {
    const Message& message = messages_[cell];
    if (message.bytes == 0) return;
    std::ranges::copy(next_rows_, rows_before_.begin());  // others wait: no memory is taken
    for_each_listed(cell, [&](const Entry& entry, const std::byte*) { mark(entry, shift); });
    const std::span<const std::byte> answer(packed_ + message.answer_at,
                                            static_cast<std::size_t>(message.answer_bytes));
    well = unpack_answer(answer, {&whole, 1}, 0, shift, marks_.data(), image_.data()) && well;
    clear_cell(shift);
    std::ranges::copy(rows_before_, next_rows_.begin());
    for_each_listed(cell, [&](const Entry& entry, std::byte* bytes) {
      copy_piece(bytes, image_.data() + entry.begin, entry.length);
    });
  });
  return well;
}

std::span<const std::byte> Outbox::listed_bytes(std::int64_t cell) const {
  const Row* const rows = rows_of(rank_);
  std::uint32_t end = 0;
  for (std::int64_t i = 0; i < own().rows && rows[i].cell < cell; ++i) end = rows[i].bytes;
  return {bytes_of(rank_), end};
}

// ---- slots ----

Outbox::Slot Outbox::slot(int parity, int rail, std::int64_t number) const {
  const std::int64_t index = (parity * rounds_.rails + rail) * rounds_.slots + number;
  std::byte* const at = slots_ + index * (rounds_.block + mark_words(rounds_) * 8);
  return {at, reinterpret_cast<std::uint64_t*>(at + rounds_.block)};
}

bool Outbox::unpack(std::span<const std::byte> message, const Slot& slot, std::int64_t at, int shift) const {
  const DomainPart whole{0, rounds_.cell, {}};
  return unpack_message(message, {&whole, 1}, 0, shift, slot.buffer + at, slot.marks + (at >> shift) / 64);
}

void Outbox::clear_marks(const Slot& slot, std::int64_t begin, std::int64_t end, int shift) {
  std::fill(slot.marks + (begin >> shift) / 64, slot.marks + (end >> shift) / 64, 0);
}

}  // namespace forebay
