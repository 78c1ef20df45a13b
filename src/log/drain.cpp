// From the log into the file: the oldest appends together, stripe by stripe, so that what many small ones
// put there is written as a flush of the file would write it.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/waiting.hpp"
#include "layout/extent.hpp"
#include "log/node_log.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kBatch = 8 << 20;
constexpr std::size_t kMostParts = 1 << 16;
constexpr std::int64_t kLeastUnit = 64 << 10, kMostUnit = 4 << 20;

// Stripes, or parts of them that are written alone and straddle none.
std::int64_t unit_of(std::int64_t stripe) {
  std::int64_t unit = std::max(stripe, kLeastUnit);
  while (unit > kMostUnit && unit % 2 == 0) unit /= 2;
  return std::min(unit, kMostUnit);
}

}  // namespace

/// Of one append, within a unit of the file.
struct NodeLog::Part {
  std::int64_t offset, length;
  std::int64_t position;      // in the ring
  const std::byte* loaded;    // or null
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

Status NodeLog::drain_locked(Storage& file, std::int64_t most, bool& blocked) {
  LogState& s = page_->state;
  blocked = false;
  try {
    std::vector<Part> parts;
    std::vector<std::unique_ptr<std::byte[]>> loaded;
    const std::int64_t first = s.first.load(std::memory_order_relaxed);
    std::int64_t n = first, bytes = 0;
    for (const std::int64_t next = s.next.load(std::memory_order_acquire);
         n < next && bytes < most && parts.size() < kMostParts; ++n) {
      LogSlot& each = slot(n);
      const SlotState state = each.state.load(std::memory_order_acquire);
      if (state == SlotState::reserved) {
        // Of a rank that has died it never comes.
        if (!lives(each.rank) && each.state.load(std::memory_order_acquire) == SlotState::reserved) continue;
        if (each.state.load(std::memory_order_acquire) == SlotState::reserved) {
          blocked = n == first;
          break;
        }
      }
      if (each.state.load(std::memory_order_acquire) != SlotState::whole) continue;
      if (Status status = take_parts(each, parts, loaded); !status.ok()) return status;
      bytes += each.bytes;
    }
    if (n == first) return {};
    if (Status status = write_parts(parts, file); !status.ok()) return status;
    // Where the next ones lie: room up to there is free.
    s.lock.take(repair_nothing);
    s.head.store(n < s.next.load(std::memory_order_relaxed) ? slot(n).position
                                                             : s.tail.load(std::memory_order_relaxed),
                 std::memory_order_release);
    s.first.store(n, std::memory_order_release);
    s.lock.give();
    s.pending.fetch_sub(bytes, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "no memory to write what the log " + name_ + " has of " + page_->identity.path};
  }
  s.drained.fetch_add(1, std::memory_order_seq_cst);
  if (s.sleepers.load(std::memory_order_seq_cst) > 0) wake_all(s.drained);
  return {};
}

Status NodeLog::take_parts(const LogSlot& slot, std::vector<Part>& parts,
                           std::vector<std::unique_ptr<std::byte[]>>& loaded) {
  const std::int64_t unit = unit_of(page_->identity.stripe_bytes);
  const auto take = [&](std::int64_t offset, std::int64_t length, std::int64_t position, const std::byte* at) {
    for (std::int64_t done = 0; done < length;) {
      const std::int64_t part = std::min(length - done, unit - (offset + done) % unit);
      parts.push_back({offset + done, part, position + done, at != nullptr ? at + done : nullptr});
      done += part;
    }
  };
  if (slot.extents == 1) {
    take(slot.begin, slot.end - slot.begin, slot.position, nullptr);
    return {};
  }
  // Many small ones come by one read.
  auto& data = loaded.emplace_back(new std::byte[static_cast<std::size_t>(slot.data)]);
  if (Status status = read_ring(slot.position, data.get(), slot.data); !status.ok()) return status;
  std::int64_t at = slot.extents * static_cast<std::int64_t>(sizeof(LogExtent));
  for (std::int64_t i = 0; i < slot.extents; ++i) {
    LogExtent extent;
    std::memcpy(&extent, data.get() + i * static_cast<std::int64_t>(sizeof extent), sizeof extent);
    take(extent.offset, extent.length, slot.position + at, data.get() + at);
    at += extent.length;
  }
  return {};
}

// Later ones over earlier ones.
Status NodeLog::write_parts(std::vector<Part>& parts, Storage& file) {
  const std::int64_t unit = unit_of(page_->identity.stripe_bytes);
  if (unit_ == nullptr) unit_.reset(new std::byte[static_cast<std::size_t>(unit)]);
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Part& a, const Part& b) { return a.offset / unit < b.offset / unit; });
  std::vector<Extent> ranges;
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < parts.size();) {
    const std::int64_t begin = parts[i].offset / unit * unit;
    ranges.clear();
    pieces.clear();
    for (; i < parts.size() && parts[i].offset < begin + unit; ++i) {
      const Part& part = parts[i];
      std::byte* const to = unit_.get() + (part.offset - begin);
      if (part.loaded != nullptr) {
        std::memcpy(to, part.loaded, static_cast<std::size_t>(part.length));
      } else if (Status status = read_ring(part.position, to, part.length); !status.ok()) {
        return status;
      }
      ranges.push_back({part.offset, part.offset + part.length});
    }
    ranges.resize(merge_ranges(std::span(ranges)));
    for (const Extent& range : ranges) pieces.push_back({range.begin, unit_.get() + (range.begin - begin), range.size()});
    if (Status status = file.write(pieces); !status.ok()) return status;
  }
  return {};
}

}  // namespace forebay
