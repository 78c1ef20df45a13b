// Putting, taking out and draining, segment by segment.
#include "segments/node_segments.hpp"

#include <algorithm>
#include <new>
#include <span>

#include "base/clock.hpp"
#include "request/memory_stream.hpp"
#include "request/run_cursor.hpp"

namespace forebay {
namespace {

constexpr int kSegmentsPerRank = 4;

}  // namespace

std::int64_t NodeSegments::choose_segment_bytes(std::int64_t stripe, std::int64_t memory, int ranks) {
  const std::int64_t share = memory / (std::int64_t{kSegmentsPerRank} * ranks);
  std::int64_t bytes = stripe;
  while (bytes % 128 == 0 && bytes / 2 >= kLeastSegment && bytes + bytes / 8 > share) bytes /= 2;
  return std::max<std::int64_t>(bytes / 64 * 64, 64);
}

void NodeSegments::attach(Storage& storage, Counters& counters, std::chrono::steady_clock::duration most_age,
                          bool fills_holes, int lock, const OpenMark* mark) {
  writer_.attach(storage, counters, fills_holes, lock, mark);
  most_age_ = most_age;
  looked_ = now();
  directory_.reserve();
  touched_.assign(static_cast<std::size_t>(area_.count), false);
}

// A page at a time, the first touch of a segment would cost more than all that is put there.
void NodeSegments::touch(int segment) {
  const auto at = static_cast<std::size_t>(segment);
  if (touched_[at]) return;
  touched_[at] = true;
  (void)area_.populate(segment);
}

/// Calls f(index, runs, more) for the runs in each segment's range, which are in the journal; more() takes
/// the next ones of the same range.
template <class F>
void NodeSegments::walk(Cursor& cursor, F&& f) {
  const std::span<Run> batch = area_.journal().runs();
  cursor.start(area_.bytes);
  for (std::int64_t next = cursor.peek(); next != kNoOffset; next = cursor.peek()) {
    const std::int64_t index = next / area_.bytes;
    const std::int64_t limit = (index + 1) * area_.bytes;
    const auto take = [&] { return std::span<const Run>(batch.data(), cursor.take(limit, batch)); };
    const std::span<const Run> runs = take();
    if (!runs.empty() && !f(index, runs, take)) return;
  }
}

// Where it cannot be written, the bytes stay, and who drains next hears of it.
void NodeSegments::finish(int segment) {
  const Held held(locks_, segment);
  area_.journal().stop_waiting();
  if (bytes_.full(segment)) (void)write(segment);
}

Status NodeSegments::put(const Put& put) {
  Status status;
  // An element that an edge cuts goes into two segments. The first is held until the second has its part,
  // where that is to be had without waiting.
  Held before(locks_);
  Journal& journal = area_.journal();
  struct Uncut {
    ~Uncut() { journal.stop_waiting(); }
    Journal& journal;
  } const uncut{journal};  // before its segment is let go
  Counters& counters = writer_.counters();
  walk(*put.cursor, [&](std::int64_t index, std::span<const Run> runs, auto&& more) {
    const int segment = directory_.acquire(index, before, *this, status);
    if (segment < 0) return false;
    Held held(locks_, segment);
    touch(segment);
    const std::int64_t limit = (index + 1) * area_.bytes;
    for (; !runs.empty(); runs = more()) {
      if (!bytes_.save(segment, runs)) {
        status.update(write(segment));
        if (!status.ok()) return false;
        (void)bytes_.save(segment, runs);  // nothing is marked now
      }
      bytes_.put(segment, runs, *put.source);
      counters.pieces += static_cast<std::int64_t>(runs.size());
      const Run* cut = nullptr;
      for (const Run& run : runs) {
        counters.bytes += run.length;
        if (run.file + run.length == limit) cut = &run;
      }
      if (cut != nullptr || before.any())
        journal.end(cut);
      else
        journal.end();
      if (before.any()) finish(before.release());
    }
    if (journal.waits() && put.cursor->peek() == limit) {
      before.take(held.release());
    } else {
      finish(held.release());
    }
    return true;
  });
  if (before.any()) finish(before.release());
  return status;
}

/// Calls f(segment, its file range) with the lock held, for those that are dirty and meet the range.
template <class F>
void NodeSegments::for_each_in(Extent range, F&& f) {
  if (range.empty() || kept() == 0) return;
  const std::int64_t first = range.begin / area_.bytes;
  const std::int64_t last = (range.end - 1) / area_.bytes;
  const auto visit = [&](int s) {
    const Held held(locks_, s);
    f(s, area_.range_of(s));
  };
  if (last - first < area_.count / 4) {
    for (std::int64_t index = first; index <= last; ++index) {
      if (const int s = directory_.lock_present(index); s >= 0) visit(s);
    }
    return;
  }
  for (const auto& [index, s] : directory_.list_dirty(first, last)) {
    locks_.lock(s);
    if (directory_.index_of(s) == index) {
      visit(s);
    } else {
      locks_.unlock(s);
    }
  }
}

// What is kept there goes to the file first: who dies before his bytes are there loses nobody's.
void NodeSegments::make_way(int segment, std::int64_t begin, std::int64_t end) {
  if (bytes_.any_marked(segment, begin, end) && !write(segment).ok()) bytes_.clear(segment, begin, end);
}

void NodeSegments::discard(Extent range) {
  writer_.begin_bypass();
  for_each_in(range, [&](int s, Extent whole) {
    make_way(s, std::max(range.begin, whole.begin) - whole.begin,
             std::min(range.end, whole.end) - whole.begin);
  });
}

void NodeSegments::forget(Extent range) {
  for_each_in(range, [&](int s, Extent whole) {
    bytes_.clear(s, std::max(range.begin, whole.begin) - whole.begin,
                 std::min(range.end, whole.end) - whole.begin);
  });
}

void NodeSegments::discard(Cursor& cursor) {
  writer_.begin_bypass();
  if (kept() == 0) return;
  walk(cursor, [&](std::int64_t index, std::span<const Run> runs, auto&& more) {
    const int segment = directory_.lock_present(index);
    const Held held(locks_, segment);
    for (; !runs.empty(); runs = more()) {
      if (segment < 0) continue;
      for (const Run& run : runs) {
        const std::int64_t begin = run.file - index * area_.bytes;
        make_way(segment, begin, begin + run.length);
      }
    }
    return true;
  });
}

Status NodeSegments::drain(Extent range) {
  Status status;
  for_each_in(range, [&](int s, Extent) { status.update(write(s)); });
  return status;
}

// It is newer than what the rank had put here.
Status NodeSegments::take_level1(int rank) {
  const Level1Memory memory = area_.level1(rank);
  if (!has_level1() || memory.state->count == 0) return {};
  try {
    const Level1Left left(memory, area_.bytes);
    RunCursor<Level1Left> cursor(left);
    MemorySource source(left.memory());
    if (Status status = put({&cursor, &source}); !status.ok()) return status;
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "no memory for what a rank kept"};
  }
  memory.state->initialize();
  return {};
}

Status NodeSegments::drain_for(std::uint64_t file, std::span<const int> ended) {
  area_.header->draining = true;
  Status status;
  if (area_.header->file == file) {
    for (const int rank : ended) status.update(take_level1(rank));
    status.update(drain());
  }
  area_.header->draining = false;
  return status;
}

Status NodeSegments::drain_share() {
  Status status;
  for_each_in({0, kNoOffset}, [&](int s, Extent whole) {
    if (whole.begin / area_.bytes % area_.ranks == area_.rank) status.update(write(s));
  });
  return status;
}

bool NodeSegments::drain_overdue() {
  const auto at = now();
  if (at - looked_ < std::min<std::chrono::steady_clock::duration>(std::chrono::seconds(1), most_age_))
    return false;
  looked_ = at;
  const std::int64_t oldest = (at - most_age_).time_since_epoch().count();
  for_each_in({0, kNoOffset}, [&](int s, Extent) {
    if (area_.segments[s].since.load(std::memory_order_relaxed) <= oldest) (void)write(s);
  });
  return true;
}

}  // namespace forebay
