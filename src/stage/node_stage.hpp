// What a node has of a file that is read: in a file of its own, for all ranks of the node and for the next
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "stage/format.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// What a read has moved.
struct StageTally {
  std::int64_t reads = 0, read_bytes = 0;       ///< from the stage
  std::int64_t fetches = 0, fetched_bytes = 0;  ///< from the file to the stage
};

/// One process's view of a stage. Any process may use its own at any time; of one object, one thread at a
/// time. Nothing that goes wrong with the stage fails a read: then the file is read.
///
/// A unit of the file counts when it is whole. Who fetches one holds a lock of it, of the open file
/// description, so that the system lets it go with the process: nobody fetches what another one is at, and
/// nobody waits for a dead one.
class NodeStage {
 public:
  /// By each that reads. Fails where it is not of that file.
  static Status attach(const std::string& name, const FileStamp& file, std::unique_ptr<NodeStage>& out);
  /// Whatever it is of.
  static Status open(const std::string& name, std::unique_ptr<NodeStage>& out);
  /// A new one, in the place of another of that name, which those who use it keep. `slots`: 0: bytes lie
  /// where they lie in the file, at most `bound` of them.
  static Status make(const std::string& name, const FileStamp& stamp, std::int64_t unit, std::int64_t slots,
                     std::int64_t bound);
  /// What the table says: a process that ended may have left another number.
  void count_again();
  /// Bytes that may be there from now on, of one that is not compact; it is used now.
  void set_bound(std::int64_t bytes);
  ~NodeStage();
  NodeStage(const NodeStage&) = delete;
  NodeStage& operator=(const NodeStage&) = delete;

  /// As `file` would read it. Only a failure of that is one.
  Status read(std::int64_t offset, std::byte* data, std::int64_t length, Storage& file, StageTally& tally);
  /// Fetches units of [begin, end) that are not there and that nobody is at, at most about `most` bytes.
  /// Returns where it has come to: `end` or more, where there is nothing left.
  std::int64_t fetch(std::int64_t begin, std::int64_t end, std::int64_t most, Storage& file,
                     StageTally& tally);
  /// Not a byte more is taken from it, or put there, by this object.
  bool off() const { return off_; }
  /// Whether all of what [begin, end) touches is there.
  bool has(std::int64_t begin, std::int64_t end) const;

  const StageIdentity& identity() const { return page_->identity; }
  const std::string& name() const { return name_; }
  bool compact() const { return page_->identity.slots > 0; }
  /// How much may be there together, in bytes.
  std::int64_t bound() const;
  /// How much is.
  std::int64_t used() const;
  /// When find_stage gave it to somebody last, in nanoseconds since 1970.
  std::int64_t opened_at() const { return page_->state.opened_at.load(); }
  /// Whether a change of the file that came later must have changed its time.
  bool is_certain() const;
  /// Whether another process has it, or this one has it once more.
  bool is_used() const;

 private:
  NodeStage(Descriptor file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Status map();

  std::int64_t unit_of(std::int64_t offset) const { return offset / page_->identity.unit; }
  std::int64_t begin_of(std::int64_t unit) const { return unit * page_->identity.unit; }
  std::int64_t end_of(std::int64_t unit) const;
  std::uint32_t entry(std::int64_t unit) const { return table_[unit].load(std::memory_order_acquire); }
  off_t place_of(std::uint32_t entry) const;
  bool lock(std::int64_t first, std::int64_t count) const;
  void unlock(std::int64_t first, std::int64_t count) const;

  struct Wanted;
  std::int64_t take(Wanted& wanted, std::int64_t unit, std::int64_t last);
  enum class Outcome { fetched, busy, there, no_room };
  Outcome fetch_units(Wanted& wanted, std::int64_t unit, std::int64_t& count, Status& status);
  Status read_past(Wanted& wanted, std::int64_t first, std::int64_t count);
  std::int64_t reserve(std::int64_t unit, std::int64_t count);
  void settle(std::int64_t unit, std::int64_t count, bool whole);
  std::int64_t free_slot();
  bool take_slot(std::int64_t slot);
  bool write(std::int64_t unit, std::int64_t count, const std::byte* data, std::int64_t length);
  void switch_off(const std::string& why);

  Descriptor file_;
  std::string name_;
  StagePage* page_ = nullptr;
  StageEntry* table_ = nullptr;
  StageSlot* slots_ = nullptr;
  std::size_t mapped_ = 0;
  std::int64_t data_ = 0;
  std::int64_t added_ = 0;  // to StageState::used, for these
  bool off_ = false;
  bool counted_ = false;               // again, since all room seemed to be taken
  std::vector<std::uint32_t> places_;  // of the units that are being fetched
  std::unique_ptr<std::byte[]> buffer_;
  std::int64_t buffer_bytes_ = 0;
};

}  // namespace forebay
