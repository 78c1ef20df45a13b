// Where the parts lie, and how they begin.
#include "segments/segment_area.hpp"

#include <algorithm>
#include <cstring>

#include "exchange/shared_memory.hpp"

namespace forebay {
namespace {

constexpr std::size_t kMostSaved = 32 << 10;

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

struct Places {
  Places(std::int64_t segment_bytes, int count, int ranks_, bool level1) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    const auto n = static_cast<std::size_t>(count);
    const auto bytes = static_cast<std::size_t>(segment_bytes);
    map = round_up(bytes / 8, 64);
    slot = map + bytes;
    segments = round_up(sizeof(SegmentArea::Header), 128);
    journals = segments + n * sizeof(SegmentState);
    level1_states = journals + (ranks + 1) * sizeof(Journal);
    heads = level1_states + ranks * sizeof(Level1State);
    slots = round_up(heads + 2 * n * sizeof(std::atomic<int>), 4096);
    saved = round_up(slots + n * slot, 4096);
    saved_bytes = std::min(kMostSaved, n * bytes / (16 * ranks) / 64 * 64);
    level1s = round_up(saved + (ranks + 1) * saved_bytes, 4096);
    level1_bytes = level1 ? round_up(Level1::bytes_needed(segment_bytes), 4096) : 0;
    end = level1s + ranks * level1_bytes;
  }
  std::size_t map, slot, segments, journals, level1_states, heads, slots, saved, saved_bytes, level1s,
      level1_bytes, end;
};

}  // namespace

std::size_t SegmentArea::bytes_needed(std::int64_t segment_bytes, int count, int ranks, bool level1) {
  return Places(segment_bytes, count, ranks, level1).end;
}

std::size_t SegmentArea::bytes_at_first(std::int64_t segment_bytes, int count, int ranks) {
  const Places places(segment_bytes, count, ranks, false);
  return places.slots + places.slot;
}

SegmentArea::SegmentArea(void* memory, std::int64_t segment_bytes, int count_, int ranks_, int rank_,
                         bool level1)
    : ranks(ranks_), rank(rank_), bytes(segment_bytes), count(count_), buckets(2 * count_) {
  auto* at = static_cast<std::byte*>(memory);
  const Places places(segment_bytes, count, ranks, level1);
  header = reinterpret_cast<Header*>(at);
  segments = reinterpret_cast<SegmentState*>(at + places.segments);
  journals = reinterpret_cast<Journal*>(at + places.journals);
  heads = reinterpret_cast<std::atomic<int>*>(at + places.heads);
  slots = at + places.slots;
  saved = at + places.saved;
  saved_bytes = static_cast<std::int64_t>(places.saved_bytes);
  level1_states = reinterpret_cast<Level1State*>(at + places.level1_states);
  level1s = at + places.level1s;
  level1_bytes = static_cast<std::int64_t>(places.level1_bytes);
  map_bytes = static_cast<std::int64_t>(places.map);
  slot_bytes = static_cast<std::int64_t>(places.slot);
}

bool SegmentArea::populate(int segment) const {
  return forebay::populate(words(segment), static_cast<std::size_t>(slot_bytes));
}

bool SegmentArea::populate_saved() const {
  return forebay::populate(saved_by(rank), static_cast<std::size_t>(saved_bytes));
}

bool SegmentArea::populate_level1() const {
  return level1_bytes > 0 && forebay::populate(level1(rank).at, static_cast<std::size_t>(level1_bytes));
}

void SegmentArea::initialize() const {
  header->lock.initialize();
  header->file = header->taken = 0;
  header->kept = 0;
  header->uses = 0;
  header->bypassing = 0;
  header->without_memory = 0;
  for (int i = 0; i < buckets; ++i) heads[i] = -1;
  for (int i = 0; i <= ranks; ++i) journals[i].initialize();
  for (int i = 0; i < ranks; ++i) level1_states[i].initialize();
  for (int i = 0; i < count; ++i) {
    SegmentState& s = segments[i];
    s.lock.initialize();
    // A rank that died in there may have marked some without counting them.
    if (s.dirty != 0 || s.holder != 0) std::memset(words(i), 0, static_cast<std::size_t>(bytes / 8));
    s.holder = 0;
    s.index = SegmentState::kUnused;
    s.next = -1;
    s.used = 0;
    s.dirty = 0;
    s.since = 0;
  }
}

}  // namespace forebay
