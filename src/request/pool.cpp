// An arena for the bytes, chunks of entries for the cursors.
#include "request/pool.hpp"

#include <algorithm>
#include <new>

namespace forebay {
namespace {

// An entry, its cursor, and what the allocator adds to the latter.
constexpr std::int64_t kEntryBytes = 320;

}  // namespace

Pool::~Pool() {
  // One by one: the chain may be long.
  while (first_ != nullptr) first_ = std::move(first_->next);
}

bool Pool::stage(std::span<const Put> puts, std::int64_t most) {
  // The sum first: what will not fit is not begun with.
  most = std::min(most, bound_ - bytes());
  std::int64_t sum = 0;
  for (const Put& put : puts) {
    const std::int64_t each = put.cursor->stream_bytes();
    if (each < 0 || each > most) return false;
    sum += each + kEntryBytes;
    if (sum > most) return false;
  }
  try {
    for (const Put& put : puts) {
      if (stage_one(put)) continue;
      forget_staged();
      return false;
    }
  } catch (const std::bad_alloc&) {
    forget_staged();
    return false;
  }
  return true;
}

bool Pool::stage_one(const Put& put) {
  std::unique_ptr<Cursor> cursor = put.cursor->copy();
  if (cursor == nullptr) return false;
  const std::int64_t length = cursor->stream_bytes();
  const std::int64_t room = (length + 7) / 8 * 8;
  staged_.bytes += room + kEntryBytes;
  // Puts that follow each other often share one list.
  if (const SharedPart shared = cursor->shared(); shared.what != nullptr && shared.what != staged_.shared) {
    staged_.shared = shared.what;
    staged_.bytes += static_cast<std::int64_t>(shared.bytes);
  }
  if (staged_.bytes > bound_) return false;

  if (!arena_) arena_.emplace(static_cast<std::size_t>(bound_));
  std::byte* const data = arena_->memory() + staged_.used;
  staged_.used += static_cast<std::size_t>(room);
  const Run all{0, 0, length};
  if (length > 0) put.source->produce({&all, 1}, data, 0);
  const Extent hull = cursor->hull();
  if (!hull.empty()) {
    staged_.hull = {std::min(staged_.hull.begin, hull.begin), std::max(staged_.hull.end, hull.end)};
    staged_.alignment = std::min(staged_.alignment, cursor->alignment());
  }
  Entry& to = entry();
  to.source = MemorySource(data);
  to.cursor = std::move(cursor);
  ++staged_.entries;
  return true;
}

Pool::Entry& Pool::entry() {
  const std::size_t at = staged_.entries % kChunk;
  if (at == 0) {
    std::unique_ptr<Chunk>& next = staged_.chunk == nullptr ? first_ : staged_.chunk->next;
    if (next == nullptr) next = std::make_unique<Chunk>();
    staged_.chunk = next.get();
  }
  return staged_.chunk->entries[at];
}

void Pool::keep() {
  kept_mark_ = staged_;
  peak_bytes_ = std::max(peak_bytes_, bytes());
  kept_.store(staged_.entries, std::memory_order_release);
}

void Pool::forget_staged() {
  release_entries(kept_mark_, staged_.entries);
  staged_ = kept_mark_;
}

void Pool::clear() {
  kept_.store(0, std::memory_order_release);
  release_entries(Mark{}, staged_.entries);
  staged_ = {};
  keep();
}

void Pool::release_entries(const Mark& from, std::size_t until) {
  Chunk* chunk = from.chunk;
  for (std::size_t i = from.entries; i < until; ++i) {
    if (i % kChunk == 0) chunk = chunk == nullptr ? first_.get() : chunk->next.get();
    chunk->entries[i % kChunk].cursor.reset();
  }
}

void Pool::append_to(std::vector<Put>& puts) {
  puts.reserve(puts.size() + kept_.load(std::memory_order_relaxed));
  for_each([&](const Put& put) { puts.push_back(put); });
}

}  // namespace forebay
