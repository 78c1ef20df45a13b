// A node's log of one file: what its ranks write goes there, at the speed of a local disk or of memory, and
// into the file later. It lies in a file of its own, so that it outlives the processes that wrote it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "layout/extent.hpp"
#include "log/format.hpp"
#include "segments/level1.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// One process's view of it. Functions may be called by any process that has it at any time; of one object,
/// by one thread at a time.
///
/// Order: an append that begins after another one has returned comes after it, whichever ranks of the node
/// these are. In this order bytes go into the file, and are read.
class NodeLog {
 public:
  struct Wish {
    std::string folder;
    std::string path;  ///< of the file
    FileId file;
    std::int64_t generation = 0;
    int node = 0, nodes = 1;
    std::int64_t stripe_bytes = 0;
    bool fills_holes = false;   ///< what no rank puts may be read and written again
    std::int64_t mark = 0;      ///< of the open file: OpenMark
    std::int64_t capacity = 0;  ///< 0: half of what is free there
    int ranks = 1;              ///< of the node
    std::int64_t level1 = 0;    ///< bytes of a segment of TCIO's level 1; 0: none lies here
  };
  /// By one rank of the node. Its name ends with ".log".
  static Status create(const Wish& wish, std::string& name);
  /// By all ranks, `rank` of the node. -1: by none, who only drains.
  static Status attach(const std::string& name, int rank, std::unique_ptr<NodeLog>& out);
  static Status attach(Descriptor file, std::string name, int rank, std::unique_ptr<NodeLog>& out);
  ~NodeLog();
  NodeLog(const NodeLog&) = delete;
  NodeLog& operator=(const NodeLog&) = delete;

  /// Called where there was nothing in the log, and where it is nearly full: for whoever drains.
  void when_needed(std::function<void()> call) { when_needed_ = std::move(call); }
  /// Also where the log goes on being used when this is not ok: it has been written to the file then.
  Status append(std::span<const Piece> pieces, Storage& below) {
    Status status = gather(pieces, below);
    return status.ok() ? put_gathered(below) : status;
  }
  /// The same where more comes: small pieces wait for put_gathered, and become few appends.
  Status gather(std::span<const Piece> pieces, Storage& below);
  Status put_gathered(Storage& below);
  /// What this object has done.
  struct Figures {
    std::int64_t appends = 0, bytes = 0;
    std::int64_t drained_bytes = 0;
    std::int64_t full_waits = 0, full_wait_microseconds = 0;  ///< of appends that found no room
    std::int64_t past_bytes = 0;                              ///< written to the file at once
  };
  const Figures& figures() const { return figures_; }
  std::int64_t appends() const { return figures_.appends; }

  /// The same for little, with what a signal handler may do. False: there is no room.
  bool append_in_signal(const Piece& piece) noexcept;

  /// Memory for this rank's level 1, which outlives it; false: there is none.
  bool level1(Level1Memory& memory);

  /// Puts what is in the log over bytes that were read from the file. `since`: mark(), before they were.
  struct Mark {
    std::int64_t slot, position;
  };
  Mark mark() const;
  /// False: so much has been drained meanwhile that they have to be read again.
  bool overlay(Mark since, std::int64_t offset, std::byte* data, std::int64_t length, Status& status);

  /// Writes the oldest appends into the file, about `most` bytes of them, stripe by stripe. `blocked`: the
  /// next one is being appended. A failure leaves all of them in the log.
  Status drain(Storage& file, std::int64_t most, bool& blocked);
  /// All that was appended before this.
  Status drain_all(Storage& file);

  /// The same by several ranks together, which agree on each batch. One of them holds the right to drain
  /// meanwhile: it finds the batches, of about `most` bytes, and says that they are in the file.
  struct Range {
    std::int64_t first, end, bytes;
    bool blocked;  ///< the next append is not whole yet
    bool empty() const { return first == end; }
  };
  void hold_drain();
  void release_drain();
  Range next_range(std::int64_t most);
  void drained(const Range& range);
  /// This one's part of `parts`: whole stripes, or parts of them.
  Status write_range(const Range& range, int part, int parts, Storage& file);
  /// Of a log that nobody uses: also what its ranks had in their level 1.
  Status drain_left(Storage& file);
  /// Bytes in the level 1 of whoever used it.
  std::int64_t left_in_level1() const;
  bool empty() const { return page_->state.first.load() == page_->state.next.load(); }
  /// When anybody drained some of it last, by the steady clock of this machine.
  std::chrono::steady_clock::time_point drained_at() const {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(page_->state.drained_at.load()));
  }
  std::int64_t pending() const { return page_->state.pending.load(std::memory_order_relaxed); }

  /// What collective calls up to `call` have put on this node has been appended: by one rank, after each.
  void seal(std::int64_t call);
  /// The last call sealed, once all before the seal is in the file and has not been told yet; 0: it is not
  /// so.
  std::int64_t drained_call();
  void set_told(std::int64_t call) { page_->state.told_call.store(call); }
  std::int64_t mark_at() const { return page_->state.mark_at.load(); }
  void set_mark_at(std::int64_t offset) { page_->state.mark_at.store(offset); }

  /// From now on appends go to the file at once, in their order.
  void switch_off() { page_->state.off.store(1); }
  /// All that has been appended is on stable storage.
  Status make_durable();

  /// Of a log that nobody uses: appends whose bytes are not what was appended, of a process or a machine that
  /// ended in the middle, are left out. How many. Where the log cannot be read, nothing is left out from
  /// there on. `tell`: called with the bytes that have been looked at.
  Status drop_torn(std::int64_t& dropped, const std::function<void(std::int64_t)>& tell = nullptr);
  /// Of a log that nobody uses, after a crash of the machine: what the page says that may be wrong.
  void set_right_after_crash();

  const LogIdentity& identity() const { return page_->identity; }
  const std::string& name() const { return name_; }
  int descriptor() const { return file_.number(); }
  /// This rank appends nothing any more.
  void leave() noexcept;
  /// Whether a process lives that is a rank of it. Itself does not count.
  bool is_used() const;
  /// This process drains it, as long as it has it; and whether another one does.
  bool be_drainer() noexcept;
  bool has_drainer() const;
  /// The end of the highest byte put that is not in the file yet; 0: nothing.
  std::int64_t end() const;
  /// What is whole and not in the file yet, without a look at the data.
  struct Content {
    std::int64_t writes = 0, bytes = 0;
  };
  Content content() const;
  /// An append, for people.
  struct Entry {
    std::int64_t number, begin, end, extents, bytes;
    bool whole;
  };
  std::vector<Entry> entries(const std::function<void(std::int64_t)>& tell = nullptr);

 private:
  NodeLog(Descriptor file, std::string name, int rank)
      : file_(std::move(file)), name_(std::move(name)), rank_(rank) {}
  Status map();
  LogSlot& slot(std::int64_t number) const { return slots_[number % page_->identity.slots]; }
  std::int64_t in_file(std::int64_t position) const { return ring_ + position % page_->identity.capacity; }
  bool reserve(std::int64_t data, std::int64_t& number);
  Status make_room(Storage& below);
  Status put(std::span<const LogExtent> extents, std::span<const Piece> parts, Storage& below);
  bool fill(std::int64_t number, std::span<const LogExtent> extents, const std::byte* data,
            std::int64_t bytes) noexcept;
  Status write_past(std::span<const Piece> pieces, Storage& below);
  bool lives(int rank) const;
  bool lock_byte(off_t byte) const noexcept;
  bool is_locked(off_t begin, off_t length) const;
  struct Part;
  struct Table;
  struct Batch;
  Status drain_locked(Storage& file, std::int64_t most, bool& blocked);
  Status take(const LogSlot& slot, Batch& batch);
  Status write_batch(Batch& batch, Storage& file);
  Status write_unit(std::int64_t begin, std::vector<Extent>& ranges, Storage& file);
  Status read_ring(std::int64_t position, std::byte* data, std::int64_t length) const;
  Status look_whole(const LogSlot& slot, bool& whole);
  Level1Memory level1_of(int rank) const;
  static void repair_nothing() {}

  Descriptor file_;
  std::string name_;
  int rank_;
  LogPage* page_ = nullptr;
  LogSlot* slots_ = nullptr;
  std::size_t mapped_ = 0;
  std::int64_t ring_ = 0;
  bool has_level1_ = false;
  std::function<void()> when_needed_;
  // Small pieces on the way to one append.
  std::vector<LogExtent> extents_;
  std::vector<std::byte> bytes_;
  Figures figures_;
  OpenMark mark_;
  std::unique_ptr<std::byte[]> unit_;  // of the file, while draining
};

}  // namespace forebay
