// Locks: the directory's is held for looking up and for giving a segment to another range, never while
// waiting for a segment's; a segment's may be held when the directory's is taken.
#include "engine/node_segments.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>
#include <optional>
#include <utility>

#include "base/section.hpp"
#include "engine/node_segment.hpp"
#include "exchange/dirty_map.hpp"
#include "request/byte_order.hpp"
#include "storage/emergency_writer.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::size_t kMostPieces = 1024;
constexpr int kSegmentsPerRank = 4;
// Holes up to this are cheaper read and written with what lies around them than by a write each.
constexpr std::int64_t kHole = 4096;
constexpr int kLeastRuns = 3;  // fewer are written as they are
constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

// While a rank holds one segment it does not wait for another, but tries so often.
constexpr int kMostTries = 200;
// A rank that ends waits so long for segments that others have locked.
constexpr auto kMostForSegments = std::chrono::milliseconds(200);

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

void make_lock(pthread_mutex_t& lock) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

/// Whoever holds a lock copies some pieces: he needs the processor, not a message of the kernel's that wakes
/// this rank later. A writer of a slow file is worth sleeping for.
int take_lock(pthread_mutex_t& lock) {
  constexpr int most_yields = 200;
  for (int i = 0; i < most_yields; ++i) {
    const int result = pthread_mutex_trylock(&lock);
    if (result != EBUSY) return result;
    sched_yield();
  }
  return pthread_mutex_lock(&lock);
}

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// Calls f(word, bits) for the words that [begin, end) touches.
template <class F>
void for_each_word(std::int64_t begin, std::int64_t end, F&& f) {
  while (begin < end) {
    const std::int64_t word = begin >> 6;
    const std::int64_t word_end = std::min(end, (word + 1) << 6);
    const std::uint64_t bits = (kAllBits >> (64 - (word_end - begin))) << (begin & 63);
    f(word, bits);
    begin = word_end;
  }
}

}  // namespace

/// The directory's lock.
class NodeSegments::Lock {
 public:
  explicit Lock(NodeSegments& of) : of_(of) { take(); }
  ~Lock() {
    if (held_) give();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void take() {
    Section::enter();
    if (take_lock(of_.directory_->lock) == EOWNERDEAD) {
      of_.rebuild();
      pthread_mutex_consistent(&of_.directory_->lock);
    }
    held_ = true;
  }
  void give() {
    pthread_mutex_unlock(&of_.directory_->lock);
    held_ = false;
    Section::leave();
  }

 private:
  NodeSegments& of_;
  bool held_ = false;
};

/// Runs of the journal, while what they stand for is changed in a segment that is locked. Where a source
/// throws, they are not kept any more.
class NodeSegments::Changing {
 public:
  Changing(NodeSegments& of, int segment, std::span<const Run> runs) : of_(of), segment_(segment) {
    of_.journal().count.store(static_cast<int>(runs.size()), std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Changing() {
    Journal& journal = of_.journal();
    if (!done_) {
      for (int i = 0; i < journal.count; ++i) of_.forget(segment_, journal.runs[i]);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    journal.count.store(0, std::memory_order_release);
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
  void done() { done_ = true; }

 private:
  NodeSegments& of_;
  int segment_;
  bool done_ = false;
};

std::int64_t NodeSegments::choose_segment_bytes(std::int64_t stripe, std::int64_t memory, int ranks) {
  const std::int64_t share = memory / (std::int64_t{kSegmentsPerRank} * ranks);
  std::int64_t bytes = stripe;
  while (bytes % 128 == 0 && bytes / 2 >= kLeastSegment && bytes + bytes / 8 > share) bytes /= 2;
  return std::max<std::int64_t>(bytes / 64 * 64, 64);
}

/// Where the parts lie in memory.
struct NodeSegments::Places {
  Places(std::int64_t segment_bytes, int count, int ranks) {
    const auto n = static_cast<std::size_t>(count);
    const auto bytes = static_cast<std::size_t>(segment_bytes);
    segments = round_up(sizeof(Directory), 128);
    journals = segments + n * sizeof(Segment);
    heads = journals + static_cast<std::size_t>(ranks) * sizeof(Journal);
    maps = round_up(heads + 2 * n * sizeof(std::atomic<int>), 4096);
    data = round_up(maps + n * bytes / 8, 4096);
    end = data + n * bytes;
  }
  std::size_t segments, journals, heads, maps, data, end;
};

std::size_t NodeSegments::bytes_needed(std::int64_t segment_bytes, int count, int ranks) {
  return Places(segment_bytes, count, ranks).end;
}

NodeSegments::NodeSegments(void* memory, std::int64_t segment_bytes, int count, int ranks, int rank)
    : ranks_(ranks), rank_(rank), bytes_(segment_bytes), count_(count), buckets_(2 * count) {
  auto* at = static_cast<std::byte*>(memory);
  const Places places(segment_bytes, count, ranks);
  directory_ = reinterpret_cast<Directory*>(at);
  segments_ = reinterpret_cast<Segment*>(at + places.segments);
  journals_ = reinterpret_cast<Journal*>(at + places.journals);
  heads_ = reinterpret_cast<std::atomic<int>*>(at + places.heads);
  maps_ = at + places.maps;
  data_ = at + places.data;
}

void NodeSegments::initialize() {
  make_lock(directory_->lock);
  directory_->kept = 0;
  directory_->uses = 0;
  directory_->passing = 0;
  for (int i = 0; i < buckets_; ++i) heads_[i] = -1;
  for (int i = 0; i < ranks_; ++i) journals_[i].count = journals_[i].cut = 0;
  for (int i = 0; i < count_; ++i) {
    Segment& s = segments_[i];
    make_lock(s.lock);
    s.holder = -1;
    s.index = -1;
    s.next = -1;
    s.used = 0;
    if (s.dirty != 0) std::memset(words(i), 0, static_cast<std::size_t>(bytes_ / 8));
    s.dirty = 0;
    s.since = 0;
  }
}

void NodeSegments::attach(Storage& storage, Counters& counters, std::chrono::steady_clock::duration most_age,
                          bool fills_holes, int lock, const OpenMark* mark) {
  mark_ = mark;
  lock_ = lock;
  fills_holes_ = fills_holes;
  storage_ = &storage;
  counters_ = &counters;
  most_age_ = most_age;
  looked_ = std::chrono::steady_clock::now();
  pieces_.reserve(kMostPieces);
  order_.reserve(static_cast<std::size_t>(count_));
  touched_.assign(static_cast<std::size_t>(count_), false);
}

Extent NodeSegments::range_of(int segment) const {
  const std::int64_t origin = segments_[segment].index.load(std::memory_order_relaxed) * bytes_;
  return {origin, origin + bytes_};
}

NodeSegments::Journal& NodeSegments::journal() const {
  return journals_[rank_];
}

std::uint64_t* NodeSegments::words(int segment) const {
  return reinterpret_cast<std::uint64_t*>(maps_ + segment * (bytes_ / 8));
}

std::byte* NodeSegments::data(int segment) const {
  return data_ + segment * bytes_;
}

// ---- finding and locking ----

int NodeSegments::find(std::int64_t index) const {
  int s = heads_[index % buckets_].load(std::memory_order_relaxed);
  while (s >= 0 && segments_[s].index.load(std::memory_order_relaxed) != index)
    s = segments_[s].next.load(std::memory_order_relaxed);
  return s;
}

void NodeSegments::bind(int segment, std::int64_t index) {
  Segment& s = segments_[segment];
  if (const std::int64_t before = s.index.load(std::memory_order_relaxed); before >= 0) {
    std::atomic<int>* link = &heads_[before % buckets_];
    while (link->load(std::memory_order_relaxed) != segment)
      link = &segments_[link->load(std::memory_order_relaxed)].next;
    link->store(s.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  s.index.store(index, std::memory_order_relaxed);
  std::atomic<int>& head = heads_[index % buckets_];
  s.next.store(head.load(std::memory_order_relaxed), std::memory_order_relaxed);
  head.store(segment, std::memory_order_relaxed);
}

// Somebody died in here: the segments say where they belong.
void NodeSegments::rebuild() {
  for (int i = 0; i < buckets_; ++i) heads_[i] = -1;
  for (int i = 0; i < count_; ++i) {
    const std::int64_t index = segments_[i].index;
    if (index < 0) continue;
    segments_[i].next = heads_[index % buckets_].load();
    heads_[index % buckets_] = i;
  }
}

// Somebody died while he filled or wrote it. What he had marked is there, but for what he was changing; the
// sum may not be. A journal's runs lie in segments that its rank has locked: this one's are of a dead rank.
void NodeSegments::recover(int segment) {
  Segment& s = segments_[segment];
  for (int rank = 0; rank < ranks_; ++rank) {
    Journal& journal = journals_[rank];
    if (journal.cut.load(std::memory_order_acquire) != 0) forget(segment, journal.before);
    const int count = journal.count.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) forget(segment, journal.runs[i]);
  }
  std::int64_t dirty = 0;
  const std::uint64_t* const map = words(segment);
  for (std::int64_t i = 0; i < bytes_ / 64; ++i) dirty += std::popcount(map[i]);
  directory_->kept += dirty - s.dirty.exchange(dirty);
  pthread_mutex_consistent(&s.lock);
}

// The part of a run of a journal that lies in a segment; once, since others may put something there later.
void NodeSegments::forget(int segment, Run& run) {
  const std::int64_t origin = segments_[segment].index.load(std::memory_order_relaxed) * bytes_;
  const std::int64_t begin = std::max(run.file - origin, std::int64_t{0});
  const std::int64_t end = std::min(run.file + run.length - origin, bytes_);
  if (origin < 0 || begin >= end) return;
  clear(segment, begin, end);
  run.length = 0;
}

void NodeSegments::locked(int segment, int result) {
  if (result == EOWNERDEAD) recover(segment);
  segments_[segment].holder.store(rank_, std::memory_order_relaxed);
}

bool NodeSegments::is_mine(int segment) const {
  return segments_[segment].holder.load(std::memory_order_relaxed) == rank_;
}

void NodeSegments::lock(int segment) {
  Section::enter();
  locked(segment, take_lock(segments_[segment].lock));
}

bool NodeSegments::try_lock(int segment) {
  Section::enter();
  const int result = pthread_mutex_trylock(&segments_[segment].lock);
  if (result == 0 || result == EOWNERDEAD) {
    locked(segment, result);
    return true;
  }
  Section::leave();
  return false;
}

void NodeSegments::unlock(int segment) {
  segments_[segment].holder.store(-1, std::memory_order_relaxed);
  pthread_mutex_unlock(&segments_[segment].lock);
  Section::leave();
}

int NodeSegments::lock_present(std::int64_t index) {
  for (;;) {
    int s = -1;
    {
      const Lock directory(*this);
      s = find(index);
    }
    if (s < 0) return -1;
    lock(s);
    if (segments_[s].index.load(std::memory_order_relaxed) == index) return s;
    unlock(s);  // it was given to another range in between
  }
}

// In what order segments are given to other ranges: those with nothing in them, whose memory is in use
// already, the longest unused first; those never used; those whose bytes must be written before.
std::int64_t NodeSegments::order_of(int segment) const {
  const Segment& s = segments_[segment];
  constexpr std::int64_t never = std::int64_t{1} << 60;
  if (s.index.load(std::memory_order_relaxed) < 0) return never + segment;
  const std::int64_t used = s.used.load(std::memory_order_relaxed);
  return s.dirty.load(std::memory_order_relaxed) == 0 ? used : 2 * never + used;
}

// One to give to another range, locked; -1: all are in use.
int NodeSegments::lock_victim() {
  for (std::int64_t after = -1;;) {
    int first = -1;
    std::int64_t least = 0;
    for (int i = 0; i < count_; ++i) {
      const std::int64_t order = order_of(i);
      if (order > after && (first < 0 || order < least)) first = i, least = order;
    }
    if (first < 0) return first;
    if (try_lock(first)) {
      if (order_of(first) == least) return first;
      unlock(first);  // somebody has put something into it in between
      continue;
    }
    after = least;
  }
}

// A page at a time, the first touch of a segment would cost more than all that is put there.
void NodeSegments::touch(int segment) {
  const auto at = static_cast<std::size_t>(segment);
  if (touched_[at]) return;
  touched_[at] = true;
#ifdef MADV_POPULATE_WRITE
  if (bytes_ % kPage == 0)
    (void)::madvise(data(segment), static_cast<std::size_t>(bytes_), MADV_POPULATE_WRITE);
#endif
}

// The segment for a range, locked. -1: another would have had to give way, and its bytes could not be
// written. `before`: a segment that is held, if that needs no waiting.
int NodeSegments::acquire(std::int64_t index, Status& status, Held& before) {
  const auto lock_soon = [&](int s) {
    for (int i = 0; before.any() && i < kMostTries; ++i) {
      if (try_lock(s)) return;
      sched_yield();
    }
    if (before.any()) finish(before.release());
    lock(s);
  };
  const auto use = [&](int s) {
    segments_[s].used.store(directory_->uses.fetch_add(1, std::memory_order_relaxed),
                            std::memory_order_relaxed);
    last_ = s;
  };
  // Most puts go where the one before went.
  if (segments_[last_].index.load(std::memory_order_relaxed) == index) {
    lock_soon(last_);
    if (segments_[last_].index.load(std::memory_order_relaxed) == index) {
      use(last_);
      return last_;
    }
    unlock(last_);
  }
  for (;;) {
    Lock directory(*this);
    if (const int s = find(index); s >= 0) {
      use(s);
      directory.give();
      lock_soon(s);
      if (segments_[s].index.load(std::memory_order_relaxed) == index) return s;
      unlock(s);
      continue;
    }
    const int victim = lock_victim();
    if (victim < 0) {
      directory.give();
      if (before.any()) finish(before.release());
      sched_yield();
      continue;
    }
    if (segments_[victim].dirty.load(std::memory_order_relaxed) > 0) {
      // It can be found until its bytes are in the file.
      directory.give();
      if (Status written = write(victim); !written.ok()) {
        unlock(victim);
        status.update(std::move(written));
        return -1;
      }
      directory.take();
      if (find(index) >= 0) {
        directory.give();
        unlock(victim);
        continue;
      }
    }
    bind(victim, index);
    use(victim);
    return victim;
  }
}

// ---- bytes ----

void NodeSegments::mark(int segment, std::span<const Run> runs) {
  Segment& s = segments_[segment];
  std::uint64_t* const map = words(segment);
  const std::int64_t origin = s.index.load(std::memory_order_relaxed) * bytes_;
  std::int64_t fresh = 0;
  for (const Run& run : runs) {
    const std::int64_t begin = run.file - origin;
    for_each_word(begin, begin + run.length, [&](std::int64_t word, std::uint64_t bits) {
      fresh += std::popcount(bits & ~map[word]);
      map[word] |= bits;
    });
  }
  const std::int64_t before = s.dirty.load(std::memory_order_relaxed);
  if (before == 0) s.since.store(now(), std::memory_order_relaxed);
  // In this order: a rank that dies in between leaves the sum too high, never too low, where 0 means nothing.
  directory_->kept.fetch_add(fresh, std::memory_order_release);
  s.dirty.store(before + fresh, std::memory_order_relaxed);
}

void NodeSegments::clear(int segment, std::int64_t begin, std::int64_t end) {
  std::uint64_t* const map = words(segment);
  std::int64_t gone = 0;
  for_each_word(begin, end, [&](std::int64_t word, std::uint64_t bits) {
    gone += std::popcount(bits & map[word]);
    map[word] &= ~bits;
  });
  segments_[segment].dirty.fetch_sub(gone, std::memory_order_relaxed);
  directory_->kept.fetch_sub(gone, std::memory_order_release);
}

// A rank that has said that it passes by may be writing bytes that are holes here.
bool NodeSegments::may_fill() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return fills_holes_ && directory_->passing.load(std::memory_order_seq_cst) == 0;
}

void NodeSegments::pass() {
  if (passing_) return;
  passing_ = true;
  directory_->passing.fetch_add(1, std::memory_order_seq_cst);
  // Who fills holes now has seen nobody pass; what he fills is seen to be dirty from here on, and locked.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void NodeSegments::stop_passing() {
  if (std::exchange(passing_, false)) directory_->passing.fetch_sub(1, std::memory_order_release);
}

/// Calls f(range, runs) for the ranges of a segment whose runs lie near each other.
template <class F>
void NodeSegments::for_each_group(int segment, F&& f) {
  Extent group;
  int runs = 0;
  for_each_bit_run(words(segment), 0, bytes_, [&](std::int64_t begin, std::int64_t length) {
    if (runs > 0 && begin - group.end > kHole) {
      f(group, runs);
      runs = 0;
    }
    if (runs++ == 0) group.begin = begin;
    group.end = begin + length;
  });
  if (runs > 0) f(group, runs);
}

// What is not marked has no meaning in memory: there the file's bytes come in. False: it cannot be read.
bool NodeSegments::fill_holes(int segment, Extent range) {
  if (block_ == nullptr)
    block_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
  const std::int64_t origin = segments_[segment].index.load(std::memory_order_relaxed) * bytes_;
  if (!storage_->read(origin + range.begin, block_.get(), range.size()).ok()) return false;
  ++counters_->reads;
  counters_->read_bytes += range.size();
  ++counters_->rmw_blocks;
  std::int64_t hole = range.begin;
  for_each_bit_run(words(segment), range.begin, range.end, [&](std::int64_t begin, std::int64_t length) {
    if (begin > hole) {
      copy_bytes(block_.get() + (hole - range.begin), data(segment) + hole,
                 static_cast<std::size_t>(begin - hole));
    }
    hole = begin + length;
  });
  return true;
}

Status NodeSegments::write(int segment) {
  Segment& s = segments_[segment];
  if (s.dirty.load(std::memory_order_relaxed) == 0) return {};
  const std::int64_t origin = s.index.load(std::memory_order_relaxed) * bytes_;
  // Of what is full no other node keeps anything.
  std::optional<FileLock> others;
  if (lock_ >= 0 && s.dirty.load(std::memory_order_relaxed) < bytes_) others.emplace(lock_, origin, bytes_);
  if (others && !others->held()) return from_errno(errno, "cannot lock a range of the file before a write");
  Status status;
  const auto flush = [&] {
    if (status.ok() && !pieces_.empty()) status = storage_->write(pieces_);
    pieces_.clear();
  };
  try {
    const auto add = [&](std::int64_t begin, std::int64_t length) {
      pieces_.push_back({origin + begin, data(segment) + begin, length});
      counters_->count_write(origin + begin, length, bytes_);
      if (pieces_.size() == kMostPieces) flush();
    };
    std::optional<OpenMark::Alone> alone;
    if (mark_ != nullptr && s.dirty.load(std::memory_order_relaxed) < bytes_ && may_fill())
      alone.emplace(*mark_);
    if (may_fill() && (!alone || alone->certain())) {
      for_each_group(segment, [&](Extent range, int runs) {
        if (runs < kLeastRuns || !fill_holes(segment, range)) {
          for_each_bit_run(words(segment), range.begin, range.end, add);
        } else {
          add(range.begin, range.size());
        }
      });
    } else {
      for_each_bit_run(words(segment), 0, bytes_, add);
    }
    flush();
  } catch (const std::bad_alloc&) {  // of a message
    pieces_.clear();
    status = {Code::no_memory, "no memory"};
  }
  if (status.ok()) clear(segment, 0, bytes_);
  return status;
}

/// Calls f(index, runs, more) for the runs in each segment's range, which are in the journal; more() takes
/// the next ones of the same range.
template <class F>
void NodeSegments::walk(Cursor& cursor, F&& f) {
  const std::span<Run> batch(journal().runs);
  cursor.start(bytes_);
  for (std::int64_t next = cursor.peek(); next != kNoOffset; next = cursor.peek()) {
    const std::int64_t index = next / bytes_;
    const std::int64_t limit = (index + 1) * bytes_;
    const auto take = [&] { return std::span<const Run>(batch.data(), cursor.take(limit, batch)); };
    const std::span<const Run> runs = take();
    if (!runs.empty() && !f(index, runs, take)) return;
  }
}

// Lets go of a segment after something was put into it. Where it cannot be written, the bytes stay, and who
// drains next hears of it.
void NodeSegments::finish(int segment) {
  const Held held(*this, segment);
  journal().cut.store(0, std::memory_order_release);
  if (segments_[segment].dirty.load(std::memory_order_relaxed) == bytes_) (void)write(segment);
}

Status NodeSegments::put(const Put& put) {
  Status status;
  // An element that an edge cuts goes into two segments. The first is held until the second has its part,
  // where that is to be had without waiting.
  Held before(*this);
  Journal& journal = this->journal();
  struct Uncut {
    ~Uncut() { cut.store(0, std::memory_order_release); }
    std::atomic<int>& cut;
  } const uncut{journal.cut};  // before its segment is let go
  walk(*put.cursor, [&](std::int64_t index, std::span<const Run> runs, auto&& more) {
    const int segment = acquire(index, status, before);
    if (segment < 0) return false;
    Held held(*this, segment);
    touch(segment);
    const std::int64_t limit = (index + 1) * bytes_;
    for (; !runs.empty(); runs = more()) {
      Changing changing(*this, segment, runs);
      put.source->produce(runs, data(segment), index * bytes_);
      mark(segment, runs);
      changing.done();
      if (before.any()) finish(before.release());
      counters_->pieces += static_cast<std::int64_t>(runs.size());
      for (const Run& run : runs) {
        counters_->bytes += run.length;
        if (run.file + run.length != limit) continue;
        journal.before = run;
        journal.cut.store(1, std::memory_order_release);
      }
    }
    if (journal.cut.load(std::memory_order_relaxed) != 0 && put.cursor->peek() == limit) {
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
  const std::int64_t first = range.begin / bytes_;
  const std::int64_t last = (range.end - 1) / bytes_;
  const auto visit = [&](int s) {
    const std::int64_t origin = segments_[s].index.load(std::memory_order_relaxed) * bytes_;
    const Held held(*this, s);
    f(s, Extent{origin, origin + bytes_});
  };
  if (last - first < count_ / 4) {
    for (std::int64_t index = first; index <= last; ++index) {
      if (const int s = lock_present(index); s >= 0) visit(s);
    }
    return;
  }
  list_dirty(first, last);
  for (const auto& [index, s] : order_) {
    lock(s);
    if (segments_[s].index.load(std::memory_order_relaxed) == index) {
      visit(s);
    } else {
      unlock(s);
    }
  }
}

// In the order of the file.
void NodeSegments::list_dirty(std::int64_t first, std::int64_t last) {
  order_.clear();
  for (int s = 0; s < count_; ++s) {
    const std::int64_t index = segments_[s].index.load(std::memory_order_relaxed);
    if (index >= first && index <= last && segments_[s].dirty.load(std::memory_order_relaxed) > 0)
      order_.emplace_back(index, s);
  }
  std::sort(order_.begin(), order_.end());
}

void NodeSegments::discard(Extent range) {
  pass();
  for_each_in(range, [&](int s, Extent whole) {
    Run& run = journal().runs[0];
    run.file = std::max(range.begin, whole.begin);
    run.length = std::min(range.end, whole.end) - run.file;
    const Changing changing(*this, s, {&run, 1});
  });
}

void NodeSegments::discard(Cursor& cursor) {
  pass();
  if (kept() == 0) return;
  walk(cursor, [&](std::int64_t index, std::span<const Run> runs, auto&& more) {
    const int segment = lock_present(index);
    const Held held(*this, segment);
    for (; !runs.empty(); runs = more()) {
      // All of a run or, after a death in the middle, what is left of it.
      if (segment < 0) continue;
      const Changing changing(*this, segment, runs);
    }
    return true;
  });
}

Status NodeSegments::drain(Extent range) {
  Status status;
  for_each_in(range, [&](int s, Extent) { status.update(write(s)); });
  return status;
}

Status NodeSegments::drain_share() {
  Status status;
  for_each_in({0, kNoOffset}, [&](int s, Extent whole) {
    if (whole.begin / bytes_ % ranks_ == rank_) status.update(write(s));
  });
  return status;
}

void NodeSegments::drain_overdue() {
  const auto at = std::chrono::steady_clock::now();
  if (at - looked_ < std::min<std::chrono::steady_clock::duration>(std::chrono::seconds(1), most_age_))
    return;
  looked_ = at;
  const std::int64_t oldest = (at - most_age_).time_since_epoch().count();
  for_each_in({0, kNoOffset}, [&](int s, Extent) {
    if (segments_[s].since.load(std::memory_order_relaxed) <= oldest) (void)write(s);
  });
}

// ---- the end ----

/// Until when a rank that ends waits for others.
class NodeSegments::Deadline {
 public:
  /// Whether there is time for another try; waits a little.
  bool wait() {
    if (std::chrono::steady_clock::now() >= end_) return false;
    const timespec time{0, 50'000};
    ::nanosleep(&time, nullptr);
    return true;
  }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMostForSegments;
};

// A rank that holds it is copying or writing, and soon done; where it is not, it writes it itself.
bool NodeSegments::lock_in_signal(int segment, Deadline& deadline) {
  do {
    if (try_lock(segment)) return true;
  } while (deadline.wait());
  return false;
}

bool NodeSegments::write_out_in_signal(int fd) noexcept {
  bool well = true;
  Deadline deadline;
  const auto write_one = [&](int s) {
    if (segments_[s].dirty.load(std::memory_order_relaxed) == 0) return;
    // In the middle of a put, or where another thread waits for the other ranks.
    const bool mine = is_mine(s);
    if (!mine && !lock_in_signal(s, deadline)) return;
    const std::int64_t origin = segments_[s].index.load(std::memory_order_relaxed) * bytes_;
    if (mine) {
      Journal& own = journal();
      if (own.cut != 0) forget(s, own.before);
      for (int i = 0; i < own.count; ++i) forget(s, own.runs[i]);
    }
    std::optional<FileLock> others;
    if (lock_ >= 0) others.emplace(lock_, origin, bytes_, [&] { return deadline.wait(); });
    bool all = origin >= 0 && (!others || others->held());
    for_each_bit_run(words(s), 0, bytes_, [&](std::int64_t begin, std::int64_t length) {
      all = all && pwrite_all(fd, {origin + begin, data(s) + begin, length});
    });
    if (all) clear(s, 0, bytes_);
    if (!mine) unlock(s);
    well = well && all;
  };
  // Its own share first, then what the others have not written by then.
  for (int s = 0; s < count_; ++s) {
    if (segments_[s].index.load(std::memory_order_relaxed) % ranks_ == rank_) write_one(s);
  }
  for (int s = 0; s < count_; ++s) write_one(s);
  return well;
}

bool NodeSegments::write_past_in_signal(int fd, Piece piece) noexcept {
  // For good: nobody fills holes there any more.
  pass();
  Deadline deadline;
  const std::int64_t index = piece.offset / bytes_;
  int found = -1;
  for (int s = 0; s < count_ && found < 0; ++s) {
    if (segments_[s].index.load(std::memory_order_relaxed) == index) found = s;
  }
  const bool mine = found >= 0 && is_mine(found);
  const bool locked = found >= 0 && !mine && lock_in_signal(found, deadline);
  if (found >= 0 && !mine && !locked) return false;  // somebody may be filling holes there
  std::optional<FileLock> others;
  if (lock_ >= 0) others.emplace(lock_, index * bytes_, bytes_, [&] { return deadline.wait(); });
  const bool well = (!others || others->held()) && pwrite_all(fd, piece);
  if (well && locked && segments_[found].index.load(std::memory_order_relaxed) == index)
    clear(found, piece.offset - index * bytes_, piece.offset + piece.length - index * bytes_);
  if (locked) unlock(found);
  return well;
}

}  // namespace forebay
