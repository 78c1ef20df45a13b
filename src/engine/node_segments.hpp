// What the ranks of one node keep of one file together, in commit mode: pieces of the file in shared memory.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "base/status.hpp"
#include "request/get.hpp"
#include "request/put.hpp"
#include "storage/bypass.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Shared memory of a node, cut into segments of a file: each stands for one aligned range of it (TCIO's
/// level 2) and knows which of its bytes were put. A byte of the file is kept once on the node, so that
/// whoever puts last wins, in the order of time, and whoever writes past the segments takes the bytes he
/// writes out of them first. Between nodes nobody could do this without the other side's help: there callers
/// see to it that no two nodes keep the same byte, and flush before a place in the file changes its use.
///
/// A segment goes to the file when its last byte was put, by the rank that put it; when another one needs its
/// place; when it is too old; and when somebody drains. It is locked while somebody copies into it or writes
/// it. A rank that dies in there leaves the lock to the next one, and a journal of what it was changing,
/// which is not kept any more then: what was half copied is neither old nor new.
///
/// Ranks that fill the same segments are at different places, so that segments give way half full. One that
/// goes with many small holes in it is read, completed and written whole, where the caller allows it and
/// nobody writes past the segments.
///
/// A read takes what is kept from here, under the lock of each segment, and the rest from the file.
class NodeSegments {
 public:
  /// The smallest ones that are chosen.
  static constexpr std::int64_t kLeastSegment = 16 << 10;
  /// Bytes of a segment where `memory` is there for the `ranks` of a node: those of a stripe, or so often
  /// halved that each rank could have a few.
  static std::int64_t choose_segment_bytes(std::int64_t stripe, std::int64_t memory, int ranks);
  /// What `count` such segments take, for so many ranks.
  static std::size_t bytes_needed(std::int64_t segment_bytes, int count, int ranks);

  /// A view of memory (zeroed, page-aligned) that all ranks of the node share. One of them calls initialize()
  /// before anybody does anything else.
  NodeSegments(void* memory, std::int64_t segment_bytes, int count, int ranks, int rank);
  NodeSegments(const NodeSegments&) = delete;
  NodeSegments& operator=(const NodeSegments&) = delete;
  /// Also for the next file: forgets everything.
  void initialize();

  /// Where the file is, and how long bytes may stay. `fills_holes`: nobody but the ranks of this node,
  /// through this, changes the file while it is open, and it can be read. With `lock`, a descriptor of the
  /// file, other nodes do so, too, each through segments that take locks of the file. `mark`: it has to say
  /// so each time, too.
  void attach(Storage& storage, Counters& counters, std::chrono::steady_clock::duration most_age,
              bool fills_holes = false, int lock = -1, const OpenMark* mark = nullptr);

  /// Copies a put's bytes. A failure means that there was no place left because older bytes could not be
  /// written; the put may be kept in part.
  Status put(const Put& put);

  /// Before this rank writes there past the segments: these bytes are not kept any more, and no hole is
  /// filled until it says that it has written.
  void discard(Extent range);
  void discard(Cursor& cursor);
  void written_past() { stop_passing(); }
  /// The same, where what will be written is not known: all that is kept is written first, by the caller.
  void write_past() { pass(); }
  /// No hole is filled any more: somebody may write past the segments at any time.
  void never_fill() { directory_->passing.fetch_add(1, std::memory_order_seq_cst); }

  /// Reads what is kept, and the rest through `past`. Counts into `counters`.
  Status read(const Get& get, Bypass& past, Counters& counters);

  /// Writes what is kept within a range (more where a segment reaches further).
  Status drain(Extent range);
  Status drain() { return drain({0, kNoOffset}); }
  /// This rank's part of the same, where all ranks do it at once.
  Status drain_share();
  /// The same as a request, for a flush that merges what several nodes keep.
  class Share;
  /// Drains what is too old, now and then.
  void drain_overdue();

  /// Drains with what a signal handler may do, also in the middle of a put. Of a segment that another rank
  /// has locked for long, that rank writes it. False: not all could be written.
  bool write_out_in_signal(int fd) noexcept;
  /// The same for bytes that go past the segments, within one segment's range.
  bool write_past_in_signal(int fd, Piece piece) noexcept;

  /// Bytes that are kept by all ranks of the node together.
  std::int64_t kept() const { return directory_->kept.load(std::memory_order_acquire); }
  int count() const { return count_; }
  std::int64_t segment_bytes() const { return bytes_; }

 private:
  struct Segment;
  struct Directory {
    pthread_mutex_t lock;
    std::atomic<std::int64_t> kept;
    std::atomic<std::int64_t> uses;
    std::atomic<int> passing;  // ranks that may be writing past the segments
  };
  struct Journal;
  class Lock;
  class Held;
  class Changing;
  struct Places;

  // Of the segments, all by number:
  int find(std::int64_t index) const;
  int acquire(std::int64_t index, Status& status, Held& before);
  int lock_victim();
  void touch(int segment);
  std::int64_t order_of(int segment) const;
  int lock_present(std::int64_t index);
  void bind(int segment, std::int64_t index);
  void rebuild();
  void lock(int segment);
  bool try_lock(int segment);
  void unlock(int segment);
  void locked(int segment, int result);
  bool is_mine(int segment) const;
  void recover(int segment);
  void mark(int segment, std::span<const Run> runs);
  void clear(int segment, std::int64_t begin, std::int64_t end);
  void forget(int segment, Run& run);
  void finish(int segment);
  class Deadline;
  bool lock_in_signal(int segment, Deadline& deadline);
  Status write(int segment);
  bool may_fill() const;
  bool fill_holes(int segment, Extent range);
  bool marked(int segment, Extent range) const;
  Status read_over(int segment, std::span<const Run> runs, Sink& sink, Counters& counters);
  template <class F>
  void for_each_group(int segment, F&& f);
  void pass();
  void stop_passing();
  template <class F>
  void walk(Cursor& cursor, F&& f);
  template <class F>
  void for_each_in(Extent range, F&& f);
  void list_dirty(std::int64_t first, std::int64_t last);
  Extent range_of(int segment) const;
  Journal& journal() const;
  std::uint64_t* words(int segment) const;
  std::byte* data(int segment) const;

  int ranks_;
  int rank_;
  std::int64_t bytes_;  // of a segment
  int count_;
  int buckets_;
  Directory* directory_;
  std::atomic<int>* heads_;  // of the chains of segments whose numbers have the same remainder
  Segment* segments_;
  Journal* journals_;
  std::byte* maps_;
  std::byte* data_;
  Storage* storage_ = nullptr;
  Counters* counters_ = nullptr;
  std::chrono::steady_clock::duration most_age_{};
  std::chrono::steady_clock::time_point looked_{};
  int last_ = 0;  // the segment that this rank used last
  std::vector<bool> touched_;
  std::vector<Piece> pieces_;
  bool fills_holes_ = false;
  int lock_ = -1;
  const OpenMark* mark_ = nullptr;
  std::unique_ptr<std::byte[]> block_;  // of the file, where holes are filled
  bool passing_ = false;
  std::vector<std::pair<std::int64_t, int>> order_;
};

}  // namespace forebay
