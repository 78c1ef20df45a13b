// Where the parts lie, and how they begin.
#include "segments/segment_area.hpp"

#include <cstring>

namespace forebay {
namespace {

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

struct Places {
  Places(std::int64_t segment_bytes, int count, int ranks) {
    const auto n = static_cast<std::size_t>(count);
    const auto bytes = static_cast<std::size_t>(segment_bytes);
    segments = round_up(sizeof(SegmentArea::Header), 128);
    journals = segments + n * sizeof(SegmentState);
    heads = journals + static_cast<std::size_t>(ranks) * sizeof(Journal);
    maps = round_up(heads + 2 * n * sizeof(std::atomic<int>), 4096);
    data = round_up(maps + n * bytes / 8, 4096);
    end = data + n * bytes;
  }
  std::size_t segments, journals, heads, maps, data, end;
};

}  // namespace

std::size_t SegmentArea::bytes_needed(std::int64_t segment_bytes, int count, int ranks) {
  return Places(segment_bytes, count, ranks).end;
}

SegmentArea::SegmentArea(void* memory, std::int64_t segment_bytes, int count_, int ranks_, int rank_)
    : ranks(ranks_), rank(rank_), bytes(segment_bytes), count(count_), buckets(2 * count_) {
  auto* at = static_cast<std::byte*>(memory);
  const Places places(segment_bytes, count, ranks);
  header = reinterpret_cast<Header*>(at);
  segments = reinterpret_cast<SegmentState*>(at + places.segments);
  journals = reinterpret_cast<Journal*>(at + places.journals);
  heads = reinterpret_cast<std::atomic<int>*>(at + places.heads);
  maps = at + places.maps;
  data = at + places.data;
}

void SegmentArea::initialize() const {
  header->lock.initialize();
  header->kept = 0;
  header->uses = 0;
  header->bypassing = 0;
  for (int i = 0; i < buckets; ++i) heads[i] = -1;
  for (int i = 0; i < ranks; ++i) journals[i].initialize();
  for (int i = 0; i < count; ++i) {
    SegmentState& s = segments[i];
    s.lock.initialize();
    // A rank that died in there may have marked some without counting them.
    if (s.dirty != 0 || s.holder != 0) std::memset(words(i), 0, static_cast<std::size_t>(bytes / 8));
    s.holder = 0;
    s.index = -1;
    s.next = -1;
    s.used = 0;
    s.dirty = 0;
    s.since = 0;
  }
}

}  // namespace forebay
