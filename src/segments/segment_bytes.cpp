// Marks, sums and what becomes of both when a rank dies.
#include "segments/segment_bytes.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "base/clock.hpp"

namespace forebay {
bool SegmentBytes::save(int segment, std::span<const Run> runs) {
  Journal& journal = area_.journal();
  journal.save_none();
  if (dirty(segment) == 0) return true;
  const std::int64_t origin = area_.range_of(segment).begin;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::int64_t begin = runs[i].file - origin, end = begin + runs[i].length;
    if (!any_marked(segment, begin, end)) continue;
    // An element that the edge cuts may be changed for longer than the rest of the batch.
    if (end == area_.bytes || !marked(segment, begin, end) || bytes + runs[i].length > area_.saved_bytes)
      return false;
    if (!can_save_ && !area_.populate_saved()) return false;
    can_save_ = true;
    std::memcpy(area_.saved_by(area_.rank) + bytes, area_.data_of(segment) + begin,
                static_cast<std::size_t>(runs[i].length));
    journal.save(i);
    bytes += runs[i].length;
  }
  return true;
}

void SegmentBytes::put(int segment, std::span<const Run> runs, Source& source) {
  area_.journal().begin(runs.size());
  try {
    source.produce(runs, area_.data_of(segment), area_.range_of(segment).begin);
  } catch (...) {
    undo_changing(segment, area_.rank);
    area_.journal().end();
    throw;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  mark(segment, runs);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void SegmentBytes::undo_changing(int segment, int rank) {
  const Extent range = area_.range_of(segment);
  if (range.begin < 0) return;
  area_.journals[rank].for_each([&](const Run& run, std::int64_t saved) {
    const std::int64_t begin = std::max(run.file, range.begin) - range.begin;
    const std::int64_t end = std::min(run.file + run.length, range.end) - range.begin;
    if (begin >= end) return;
    if (saved < 0)
      clear(segment, begin, end);
    else  // all of it lies in here
      std::memcpy(area_.data_of(segment) + begin, area_.saved_by(rank) + saved,
                  static_cast<std::size_t>(run.length));
  });
}

void SegmentBytes::mark(int segment, std::span<const Run> runs) {
  SegmentState& s = area_.segments[segment];
  std::uint64_t* const map = area_.words(segment);
  const std::int64_t origin = area_.range_of(segment).begin;
  std::int64_t fresh = 0;
  for (const Run& run : runs) {
    const std::int64_t begin = run.file - origin;
    for_each_word(begin, begin + run.length, [&](std::int64_t word, std::uint64_t bits) {
      fresh += std::popcount(bits & ~map[word]);
      map[word] |= bits;
    });
  }
  const std::int64_t before = s.dirty.load(std::memory_order_relaxed);
  if (before == 0) s.since.store(now().time_since_epoch().count(), std::memory_order_relaxed);
  // In this order: a rank that dies in between leaves the sum too high, never too low, where 0 means nothing.
  area_.header->kept.fetch_add(fresh, std::memory_order_release);
  s.dirty.store(before + fresh, std::memory_order_release);
}

void SegmentBytes::clear(int segment, std::int64_t begin, std::int64_t end) {
  std::uint64_t* const map = area_.words(segment);
  std::int64_t gone = 0;
  for_each_word(begin, end, [&](std::int64_t word, std::uint64_t bits) {
    gone += std::popcount(bits & map[word]);
    map[word] &= ~bits;
  });
  area_.segments[segment].dirty.fetch_sub(gone, std::memory_order_release);
  area_.header->kept.fetch_sub(gone, std::memory_order_release);
}

// The journals of the living say nothing of it, and change meanwhile.
void SegmentBytes::recover(int segment) {
  SegmentState& s = area_.segments[segment];
  if (s.index.load(std::memory_order_relaxed) < 0)
    return;  // nothing was put yet, and its memory may be missing
  if (const int dead = s.holder.load(std::memory_order_relaxed); dead > 0) undo_changing(segment, dead - 1);
  std::int64_t dirty = 0;
  const std::uint64_t* const map = area_.words(segment);
  for (std::int64_t i = 0; i < area_.bytes / 64; ++i) dirty += std::popcount(map[i]);
  area_.header->kept += dirty - s.dirty.exchange(dirty);
}

bool SegmentBytes::any_marked(int segment, std::int64_t begin, std::int64_t end) const {
  return find_bit(area_.words(segment), begin, end, true) != end;
}

bool SegmentBytes::marked(int segment, std::int64_t begin, std::int64_t end) const {
  return find_bit(area_.words(segment), begin, end, false) == end;
}

}  // namespace forebay
