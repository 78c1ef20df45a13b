// Chains of segments by the remainder of their index, and eviction.
#include "segments/segment_directory.hpp"

#include <algorithm>

#include "base/waiting.hpp"

namespace forebay {
namespace {

// While a rank holds one segment it does not wait for another, but tries so often.
constexpr int kMostTries = 200;

}  // namespace

class SegmentDirectory::Lock {
 public:
  explicit Lock(SegmentDirectory& of) : of_(of) { take(); }
  ~Lock() {
    if (held_) give();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void take() {
    of_.area_.header->lock.take([&] { of_.rebuild(); });
    held_ = true;
  }
  void give() {
    of_.area_.header->lock.give();
    held_ = false;
  }

 private:
  SegmentDirectory& of_;
  bool held_ = false;
};

int SegmentDirectory::find(std::int64_t index) const {
  int s = area_.heads[index % area_.buckets].load(std::memory_order_relaxed);
  while (s >= 0 && index_of(s) != index) s = area_.segments[s].next.load(std::memory_order_relaxed);
  return s;
}

void SegmentDirectory::bind(int segment, std::int64_t index) {
  SegmentState& s = area_.segments[segment];
  if (const std::int64_t before = index_of(segment); before >= 0) {
    std::atomic<int>* link = &area_.heads[before % area_.buckets];
    while (link->load(std::memory_order_relaxed) != segment)
      link = &area_.segments[link->load(std::memory_order_relaxed)].next;
    link->store(s.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  s.index.store(index, std::memory_order_relaxed);
  std::atomic<int>& head = area_.heads[index % area_.buckets];
  s.next.store(head.load(std::memory_order_relaxed), std::memory_order_relaxed);
  head.store(segment, std::memory_order_relaxed);
}

// Somebody died in here: the segments say where they belong.
void SegmentDirectory::rebuild() {
  for (int i = 0; i < area_.buckets; ++i) area_.heads[i] = -1;
  for (int i = 0; i < area_.count; ++i) {
    const std::int64_t index = index_of(i);
    if (index < 0) continue;
    std::atomic<int>& head = area_.heads[index % area_.buckets];
    area_.segments[i].next = head.load();
    head = i;
  }
}

int SegmentDirectory::lock_present(std::int64_t index) {
  for (;;) {
    int s = -1;
    {
      const Lock directory(*this);
      s = find(index);
    }
    if (s < 0) return -1;
    locks_.lock(s);
    if (index_of(s) == index) return s;
    locks_.unlock(s);  // it was given to another range in between
  }
}

// In what order segments are given to other ranges: those with nothing in them, whose memory is in use
// already, the longest unused first; those never used; those whose bytes must be written before. -1: not at
// all.
std::int64_t SegmentDirectory::order_of(int segment) const {
  const SegmentState& s = area_.segments[segment];
  constexpr std::int64_t never = std::int64_t{1} << 60;
  const std::int64_t index = index_of(segment);
  if (index < 0) return index == SegmentState::kUnused ? never + segment : -1;
  const std::int64_t used = s.used.load(std::memory_order_relaxed);
  return s.dirty.load(std::memory_order_relaxed) == 0 ? used : 2 * never + used;
}

// One to give to another range, locked; -1: all are in use.
int SegmentDirectory::lock_victim() {
  for (std::int64_t after = -1;;) {
    int first = -1;
    std::int64_t least = 0;
    for (int i = 0; i < area_.count; ++i) {
      const std::int64_t order = order_of(i);
      if (order > after && (first < 0 || order < least)) first = i, least = order;
    }
    if (first < 0) return first;
    if (locks_.try_lock(first)) {
      if (order_of(first) == least) return first;
      locks_.unlock(first);  // somebody has put something into it in between
      continue;
    }
    after = least;
  }
}

void SegmentDirectory::use(int segment) {
  area_.segments[segment].used.store(area_.header->uses.fetch_add(1, std::memory_order_relaxed),
                                     std::memory_order_relaxed);
  last_ = segment;
}

int SegmentDirectory::acquire(std::int64_t index, Held& before, Owner& owner, Status& status) {
  const auto lock_soon = [&](int s) {
    for (int i = 0; before.any() && i < kMostTries; ++i) {
      if (locks_.try_lock(s)) return;
      yield();
    }
    if (before.any()) owner.finish(before.release());
    locks_.lock(s);
  };
  // Most puts go where the one before went.
  if (index_of(last_) == index) {
    lock_soon(last_);
    if (index_of(last_) == index) {
      use(last_);
      return last_;
    }
    locks_.unlock(last_);
  }
  for (;;) {
    Lock directory(*this);
    if (const int s = find(index); s >= 0) {
      use(s);
      directory.give();
      lock_soon(s);
      if (index_of(s) == index) return s;
      locks_.unlock(s);
      continue;
    }
    const int victim = lock_victim();
    if (victim < 0) {
      directory.give();
      if (before.any()) owner.finish(before.release());
      yield();
      continue;
    }
    const bool unused = index_of(victim) < 0;
    if (unused || area_.segments[victim].dirty.load(std::memory_order_relaxed) > 0) {
      // What takes long; it can be found until its bytes are in the file.
      directory.give();
      if (unused && !area_.populate(victim)) {
        area_.segments[victim].index.store(SegmentState::kWithoutMemory, std::memory_order_relaxed);
        area_.header->without_memory.fetch_add(1, std::memory_order_relaxed);
        locks_.unlock(victim);
        continue;
      }
      if (Status written = unused ? Status{} : owner.write(victim); !written.ok()) {
        locks_.unlock(victim);
        status.update(std::move(written));
        return -1;
      }
      directory.take();
      if (find(index) >= 0) {
        directory.give();
        locks_.unlock(victim);
        continue;
      }
    }
    bind(victim, index);
    use(victim);
    return victim;
  }
}

const std::vector<std::pair<std::int64_t, int>>& SegmentDirectory::list_dirty(std::int64_t first,
                                                                              std::int64_t last) {
  order_.clear();
  for (int s = 0; s < area_.count; ++s) {
    const std::int64_t index = index_of(s);
    if (index >= first && index <= last && area_.segments[s].dirty.load(std::memory_order_acquire) > 0)
      order_.emplace_back(index, s);
  }
  std::sort(order_.begin(), order_.end());
  return order_;
}

}  // namespace forebay
