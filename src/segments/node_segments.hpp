// What the ranks of one node keep of one file together, in commit mode: pieces of the file in shared memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "base/status.hpp"
#include "request/request.hpp"
#include "segments/segment_area.hpp"
#include "segments/segment_bytes.hpp"
#include "segments/segment_directory.hpp"
#include "segments/segment_locks.hpp"
#include "segments/segment_writer.hpp"
#include "storage/bypass.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Shared memory of a node, cut into segments of a file: each stands for one aligned range of it and knows
/// which of its bytes were put. A byte of the file is kept once on the node: whoever puts last wins, and
/// whoever writes past the segments has what they keep of these bytes written first. Callers see to it that
/// no two nodes keep the same byte, and flush before a place in the file changes its use.
///
/// A segment goes to the file when its last byte was put, when another one needs its place, when it is too
/// old, and when somebody drains. Where a rank dies while it copies, what was kept there stays kept; so does
/// all else that it put.
class NodeSegments final : private SegmentDirectory::Owner {
 public:
  /// The smallest ones that are chosen.
  static constexpr std::int64_t kLeastSegment = 16 << 10;
  /// Bytes of a segment where `memory` is there for the `ranks` of a node: those of a stripe, or so often
  /// halved that each rank could have a few.
  static std::int64_t choose_segment_bytes(std::int64_t stripe, std::int64_t memory, int ranks);
  /// What `count` such segments take, for so many ranks.
  static std::size_t bytes_needed(std::int64_t segment_bytes, int count, int ranks, bool level1 = false) {
    return SegmentArea::bytes_needed(segment_bytes, count, ranks, level1);
  }
  /// What has to be reserved of it at first.
  static std::size_t bytes_at_first(std::int64_t segment_bytes, int count, int ranks) {
    return SegmentArea::bytes_at_first(segment_bytes, count, ranks);
  }

  /// A view of memory (zeroed, page-aligned, the first bytes_at_first of it reserved) that all ranks of the
  /// node share. One of them calls initialize() before anybody does anything else. `level1`: there is a place
  /// for each rank's.
  NodeSegments(void* memory, std::int64_t segment_bytes, int count, int ranks, int rank, bool level1 = false)
      : area_(memory, segment_bytes, count, ranks, rank, level1) {}
  NodeSegments(const NodeSegments&) = delete;
  NodeSegments& operator=(const NodeSegments&) = delete;
  /// Also for the next file: forgets everything.
  void initialize() { area_.initialize(); }

  /// Where the file is, and how long bytes may stay. `fills_holes`: nobody but the ranks of this node,
  /// through this, changes the file while it is open, and it can be read. With `lock`, a descriptor of the
  /// file, other nodes do so, too, each through segments that take locks of the file. `mark`: it has to say
  /// so each time, too.
  void attach(Storage& storage, Counters& counters, std::chrono::steady_clock::duration most_age,
              bool fills_holes = false, int lock = -1, const OpenMark* mark = nullptr);

  /// Copies a put's bytes. A failure means that there was no place left because older bytes could not be
  /// written; the put may be kept in part.
  Status put(const Put& put);

  /// Before this rank writes there past the segments: these bytes are not kept any more, but in the file, and
  /// no hole is filled until it says that it has written.
  void discard(Extent range);
  void discard(Cursor& cursor);
  /// What is in the file there is newer than what is kept.
  void forget(Extent range);
  void end_bypass() { writer_.end_bypass(); }
  /// The same, where what will be written is not known: all that is kept is written first, by the caller.
  void begin_bypass() { writer_.begin_bypass(); }
  /// No hole is filled any more: somebody may write past the segments at any time.
  void never_fill() { writer_.never_fill(); }

  /// Reads what is kept, and the rest through `past`. Counts into `counters`.
  Status read(const Get& get, Bypass& past, Counters& counters);

  /// Writes what is kept within a range (more where a segment reaches further).
  Status drain(Extent range);
  Status drain() { return drain({0, kNoOffset}); }
  /// This rank's part of the same, where all ranks do it at once.
  Status drain_share();
  /// The same as a request, for a flush that merges what several nodes keep.
  class Share;
  /// Drains what is too old, now and then. False: not now.
  bool drain_overdue();

  /// Drains with what a signal handler may do, also in the middle of a put. Of a segment that another rank
  /// has locked for long, that rank writes it. False: not all could be written.
  bool write_out_in_signal(int fd) noexcept;
  /// The same for bytes that go past the segments, within one segment's range.
  bool bypass_in_signal(int fd, Piece piece) noexcept;

  /// Between the node's first rank and the keeper process. Whose they are; 0: nobody's.
  void serve(std::uint64_t file) { area_.header->file = file; }
  /// Whether the memory may be another file's now: false where the keeper may still be in it.
  bool end_service() {
    serve(0);
    return !area_.header->draining;
  }
  /// By the keeper: it has what it takes to write that file.
  void acknowledge(std::uint64_t file) { area_.header->taken = file; }
  bool is_acknowledged() const {
    return area_.header->taken.load(std::memory_order_acquire) != 0 &&
           area_.header->taken == area_.header->file.load(std::memory_order_relaxed);
  }
  /// By the keeper: drain(), if they are still that file's, after what the level 1 of ranks that have ended
  /// holds has come here, too. Whoever ends the service meanwhile sees it.
  Status drain_for(std::uint64_t file, std::span<const int> ended = {});

  /// The keeper's number of this memory; 0: it does not have it yet.
  void number(std::uint64_t number) { area_.header->number = number; }
  std::uint64_t number() const { return area_.header->number.load(std::memory_order_acquire); }
  /// By the keeper: it hears when that rank ends.
  void acknowledge_level1(int rank) { area_.level1_states[rank].acknowledged = true; }
  bool level1_is_acknowledged() const {
    return area_.level1_states[area_.rank].acknowledged.load(std::memory_order_acquire);
  }
  bool has_level1() const { return area_.level1_bytes > 0; }
  /// This rank's. False: there is no memory for it.
  bool populate_level1() { return area_.populate_level1(); }
  Level1Memory level1() const { return area_.level1(area_.rank); }
  /// Bytes that are kept by all ranks of the node together.
  std::int64_t kept() const { return area_.header->kept.load(std::memory_order_acquire); }
  std::int64_t segment_bytes() const { return area_.bytes; }
  int count() const { return area_.count; }
  /// Segments for which there was no memory when they were needed.
  int without_memory() const { return area_.header->without_memory.load(std::memory_order_relaxed); }

 private:
  class Deadline;

  Status write(int segment) override { return writer_.write(segment); }
  void finish(int segment) override;
  void touch(int segment);
  void make_way(int segment, std::int64_t begin, std::int64_t end);
  bool lock_in_signal(int segment, Deadline& deadline);
  Status take_level1(int rank);
  Status read_over(int segment, std::span<const Run> runs, Sink& sink, Counters& counters);
  template <class F>
  void walk(Cursor& cursor, F&& f);
  template <class F>
  void for_each_in(Extent range, F&& f);

  SegmentArea area_;
  SegmentBytes bytes_{area_};
  SegmentLocks locks_{area_, bytes_};
  SegmentDirectory directory_{area_, locks_};
  SegmentWriter writer_{area_, bytes_};
  std::chrono::steady_clock::duration most_age_{};
  std::chrono::steady_clock::time_point looked_{};
  std::vector<bool> touched_;
};

}  // namespace forebay
