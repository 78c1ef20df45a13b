// From the log into the file: the oldest appends together, stripe by stripe, so that what many small ones
// put there is written as a flush of the file would write it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>

#include "base/waiting.hpp"
#include "layout/extent.hpp"
#include "log/node_log.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kBatch = 8 << 20;
// What a batch holds in memory: tables and bytes of small pieces, and a list of the others.
constexpr std::int64_t kMostLoaded = 8 << 20;
constexpr std::int64_t kMostParts = 1 << 16;
// Where so many runs of a unit have holes between them, it is completed from the file.
constexpr std::size_t kManyRuns = 8;
constexpr std::int64_t kLeastUnit = 64 << 10, kMostUnit = 4 << 20;

// Stripes, or parts of them that are written alone and straddle none.
std::int64_t unit_of(std::int64_t stripe) {
  std::int64_t unit = std::max(stripe, kLeastUnit);
  while (unit > kMostUnit && unit % 2 == 0) unit /= 2;
  return std::min(unit, kMostUnit);
}

}  // namespace

/// A piece of one append, within a unit of the file.
struct NodeLog::Part {
  std::int64_t offset, length;
  std::int64_t slot;
  std::int64_t position;    // in the ring
  const std::byte* loaded;  // or null
};

/// An append of many pieces that ascend: it is walked, not listed.
struct NodeLog::Table {
  std::unique_ptr<std::byte[]> data;
  std::int64_t slot;
  std::span<const LogExtent> extents;
  const std::byte* at;  // the next piece's bytes
  std::size_t next = 0;
  std::int64_t taken = 0;  // of the next piece

  bool empty() const { return next == extents.size(); }
  void take(std::int64_t length) {
    at += length;
    taken += length;
    if (taken < extents[next].length) return;
    taken = 0;
    ++next;
  }
  void pass(std::int64_t end) {
    while (!empty() && offset() < end) take(std::min(extents[next].length - taken, end - offset()));
  }
  std::int64_t offset() const { return extents[next].offset + taken; }
};

struct NodeLog::Batch {
  std::vector<Part> parts;
  std::vector<Table> tables;
  std::vector<std::unique_ptr<std::byte[]>> loaded;
  int part = 0, parts_of_all = 1;  // whose units are written
  bool has(std::int64_t unit) const { return unit % parts_of_all == part; }
};

Status NodeLog::drain(Storage& file, std::int64_t most, bool& blocked) {
  LogState& s = page_->state;
  s.drain.take(repair_nothing);
  Status status = drain_locked(file, most, blocked);
  s.drain.give();
  return status;
}

Status NodeLog::drain_all(Storage& file) {
  LogState& s = page_->state;
  const std::int64_t until = s.next.load(std::memory_order_acquire);
  while (s.first.load(std::memory_order_acquire) < until) {
    bool blocked = false;
    if (Status status = drain(file, kBatch, blocked); !status.ok()) return status;
    if (blocked) sleep_for(100'000);  // somebody is in the middle of an append
  }
  return {};
}

void NodeLog::hold_drain() {
  page_->state.drain.take(repair_nothing);
}

void NodeLog::release_drain() {
  page_->state.drain.give();
}

NodeLog::Range NodeLog::next_range(std::int64_t most) {
  LogState& s = page_->state;
  const std::int64_t unit = unit_of(page_->identity.stripe_bytes);
  Range range{s.first.load(std::memory_order_relaxed), 0, 0, false};
  std::int64_t n = range.first, parts = 0, loaded = 0;
  for (const std::int64_t next = s.next.load(std::memory_order_acquire);
       n < next && range.bytes < most && parts < kMostParts && loaded < kMostLoaded; ++n) {
    LogSlot& each = slot(n);
    SlotState state = each.state.load(std::memory_order_acquire);
    if (state == SlotState::reserved) {
      const bool lives = this->lives(each.rank);
      state = each.state.load(std::memory_order_acquire);
      if (state == SlotState::reserved && lives) {
        range.blocked = n == range.first;
        break;
      }
    }
    if (state != SlotState::whole) continue;
    range.bytes += each.bytes;
    if (each.extents > 1)
      loaded += each.data;
    else
      parts += each.bytes / unit + 2;
  }
  range.end = n;
  return range;
}

Status NodeLog::write_range(const Range& range, int part, int parts, Storage& file) {
  try {
    Batch batch;
    batch.part = part;
    batch.parts_of_all = parts;
    for (std::int64_t n = range.first; n < range.end; ++n) {
      // Of a rank that died in the middle of it an append never comes.
      const LogSlot& each = slot(n);
      if (each.state.load(std::memory_order_acquire) != SlotState::whole) continue;
      if (Status status = take(each, batch); !status.ok()) return status;
    }
    return write_batch(batch, file);
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "no memory to write what the log " + name_ + " has of " + page_->identity.path};
  }
}

void NodeLog::drained(const Range& range) {
  LogState& s = page_->state;
  // Where the next ones lie: room up to there is free.
  s.lock.take(repair_nothing);
  s.head.store(range.end < s.next.load(std::memory_order_relaxed) ? slot(range.end).position
                                                                  : s.tail.load(std::memory_order_relaxed),
               std::memory_order_release);
  s.first.store(range.end, std::memory_order_release);
  s.lock.give();
  s.drained_at.store(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(),
                     std::memory_order_relaxed);
  s.pending.fetch_sub(range.bytes, std::memory_order_relaxed);
  figures_.drained_bytes += range.bytes;
  s.drained.fetch_add(1, std::memory_order_seq_cst);
  if (s.sleepers.load(std::memory_order_seq_cst) > 0) wake_all(s.drained);
}

Status NodeLog::drain_locked(Storage& file, std::int64_t most, bool& blocked) {
  const Range range = next_range(most);
  blocked = range.blocked;
  if (range.empty()) return {};
  if (Status status = write_range(range, 0, 1, file); !status.ok()) return status;
  drained(range);
  return {};
}

Status NodeLog::take(const LogSlot& slot, Batch& batch) {
  const std::int64_t unit = unit_of(page_->identity.stripe_bytes);
  const auto list = [&](std::int64_t offset, std::int64_t length, std::int64_t position,
                        const std::byte* at) {
    for (std::int64_t done = 0; done < length;) {
      const std::int64_t part = std::min(length - done, unit - (offset + done) % unit);
      if (batch.has((offset + done) / unit))
        batch.parts.push_back(
            {offset + done, part, slot.number, position + done, at != nullptr ? at + done : nullptr});
      done += part;
    }
  };
  if (slot.extents == 1) {
    list(slot.begin, slot.end - slot.begin, slot.position, nullptr);
    return {};
  }
  // Many small ones come by one read.
  std::unique_ptr<std::byte[]> data(new std::byte[static_cast<std::size_t>(slot.data)]);
  if (Status status = read_ring(slot.position, data.get(), slot.data); !status.ok()) return status;
  const std::span extents(reinterpret_cast<const LogExtent*>(data.get()),
                          static_cast<std::size_t>(slot.extents));
  const std::byte* const bytes = data.get() + extents.size_bytes();
  const bool ascends = std::ranges::adjacent_find(extents, [](const LogExtent& a, const LogExtent& b) {
                         return b.offset < a.offset + a.length;
                       }) == extents.end();
  if (ascends) {
    batch.tables.push_back({std::move(data), slot.number, extents, bytes});
    return {};
  }
  std::int64_t at = 0;
  for (const LogExtent& extent : extents) {
    list(extent.offset, extent.length, 0, bytes + at);
    at += extent.length;
  }
  batch.loaded.push_back(std::move(data));
  return {};
}

// Unit by unit; in each, later appends over earlier ones.
Status NodeLog::write_batch(Batch& batch, Storage& file) {
  const std::int64_t unit = unit_of(page_->identity.stripe_bytes);
  if (unit_ == nullptr) unit_.reset(new std::byte[static_cast<std::size_t>(unit)]);
  std::vector<Part>& parts = batch.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Part& a, const Part& b) { return a.offset / unit < b.offset / unit; });
  std::vector<Extent> ranges;
  std::size_t next = 0;
  for (;;) {
    std::int64_t lowest = next < parts.size() ? parts[next].offset : kNoOffset;
    for (const Table& table : batch.tables) {
      if (!table.empty()) lowest = std::min(lowest, table.offset());
    }
    if (lowest == kNoOffset) return {};
    const std::int64_t begin = lowest / unit * unit, end = begin + unit;
    if (!batch.has(begin / unit)) {  // a table's
      for (Table& table : batch.tables) table.pass(end);
      continue;
    }
    ranges.clear();
    std::size_t part = next;
    while (next < parts.size() && parts[next].offset < end) ++next;
    // Both lists are in the order of the appends.
    const auto put_parts = [&](std::int64_t before) -> Status {
      for (; part < next && parts[part].slot < before; ++part) {
        const Part& p = parts[part];
        std::byte* const to = unit_.get() + (p.offset - begin);
        if (p.loaded != nullptr) {
          std::memcpy(to, p.loaded, static_cast<std::size_t>(p.length));
        } else if (Status status = read_ring(p.position, to, p.length); !status.ok()) {
          return status;
        }
        ranges.push_back({p.offset, p.offset + p.length});
      }
      return {};
    };
    for (Table& table : batch.tables) {
      if (table.empty() || table.offset() >= end) continue;
      if (Status status = put_parts(table.slot); !status.ok()) return status;
      while (!table.empty() && table.offset() < end) {
        const LogExtent& extent = table.extents[table.next];
        const std::int64_t from = table.offset(), length = std::min(extent.length - table.taken, end - from);
        std::memcpy(unit_.get() + (from - begin), table.at, static_cast<std::size_t>(length));
        ranges.push_back({from, from + length});
        table.take(length);
      }
    }
    if (Status status = put_parts(kNoOffset); !status.ok()) return status;
    ranges.resize(merge_ranges(std::span(ranges)));
    if (Status status = write_unit(begin, ranges, file); !status.ok()) return status;
  }
}

// Its own bytes alone, or, where that is many runs and nobody else writes the file, with what lies between.
Status NodeLog::write_unit(std::int64_t begin, std::vector<Extent>& ranges, Storage& file) {
  std::byte* const unit = unit_.get() - begin;
  if (ranges.size() >= kManyRuns && page_->identity.fills != 0) {
    mark_.leave({page_->identity.device, page_->identity.inode}, page_->identity.mark);
    const OpenMark::Alone alone(mark_);
    if (alone.certain()) {
      const Extent all{ranges.front().begin, ranges.back().end};
      std::vector<std::byte> between(static_cast<std::size_t>(all.size()));
      if (Status status = file.read(all.begin, between.data(), all.size()); !status.ok()) return status;
      for (const Extent& range : ranges)
        std::memcpy(between.data() + (range.begin - all.begin), unit + range.begin,
                    static_cast<std::size_t>(range.size()));
      const Piece piece{all.begin, between.data(), all.size()};
      return file.write({&piece, 1});
    }
  }
  std::vector<Piece> pieces;
  for (const Extent& range : ranges) pieces.push_back({range.begin, unit + range.begin, range.size()});
  return file.write(pieces);
}

}  // namespace forebay
