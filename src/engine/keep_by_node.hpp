// Commit mode for files whose ranks write one after the other at any place, as HDF5's do: the node keeps
// bytes in segments. Each rank copies for itself; collective calls agree on whether they are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/settings.hpp"
#include "engine/keeper.hpp"
#include "engine/node_set.hpp"
#include "engine/termination.hpp"
#include "segments/node_segments.hpp"

namespace forebay {

class KeepByNode final : public Keeper, public Holder {
 public:
  /// Where memory is made, and what may be left of another file, or null.
  struct Memories {
    const Communicator& node;
    const Communicator& all;  ///< with the file's ranks
    NodeSet* spares;
  };
  /// Collective. The file has a descriptor and outlives this. `settings`: with what may be kept. `writer`:
  /// called as the process ends, with bytes kept; null: this. Fails on all ranks, each with its own reason,
  /// or on none; Code::no_shared_memory where a node has none.
  static Status create(FileContext& file, const Memories& memories, const Settings& settings, Holder* writer,
                       std::unique_ptr<KeepByNode>& out);
  ~KeepByNode() override;

  /// The least that a rank of a node needs to keep anything.
  static std::int64_t least_share(int ranks);

  Status write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                   When when) override;
  Status write(std::span<const Put> puts, When when) override;
  Status write_at(const Piece& piece) override;
  Status flush() override;
  bool flush_waits() const override { return !holds_nothing(); }
  Status flush_independent() override { return segments_.drain(); }
  Status read_at(std::int64_t offset, std::byte* data, std::int64_t length) override;
  Status read(std::span<const Get> gets) override;
  Status before_collective_read(std::int64_t& kept) override;
  /// After all ranks have entered: what any node keeps goes to the file, merged between the nodes.
  Status flush_kept() override;
  Status barrier_around_read() override;
  Status begin_direct_writes(bool collective) override;
  void end_direct_writes() override { segments_.end_bypass(); }
  void handle_given_away() override { segments_.never_fill(); }
  void begin_independent() override { independent_ = true; }
  void end_independent() override { independent_ = false; }
  void space_freed() override;
  void space_taken() override { paused_ = false; }
  std::int64_t segment_bytes() const override { return segments_.segment_bytes(); }
  Level1Use level1(Level1Memory& shared) override;
  bool write_in_signal(const Piece& piece) noexcept override;
  std::shared_ptr<SegmentMemory> close() override;

  /// Before something is kept: the end of the process is seen to.
  void be_watched();
  /// As the process ends; false, and it has been said, where not all could be written.
  bool write_kept(Ending ending) noexcept;
  void write_out(Ending ending) noexcept override { (void)write_kept(ending); }

  /// A keeper process writes what is kept when ranks of a node die: on all nodes, as the file was opened.
  bool is_guarded() const { return guarded_; }
  bool survives() const override { return guarded_; }
  bool holds() const override { return holds_; }
  /// Nothing is kept without it.
  void need_keeper() { needs_keeper_ = true; }
  /// Nodes lock what they write of a segment: whatever goes to the file has to go through segments.
  bool locks() const { return locks_; }
  /// The segments are smaller than they might be: none stay for the next file.
  void memory_is_short() { memory_stays_ = false; }

 private:
  KeepByNode(FileContext& file, std::shared_ptr<SegmentMemory> memory, int count, Holder* writer);
  Status write_through(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max);
  Status take_long_runs(std::vector<Put>& puts, Status mine);
  Status write_locked(std::span<const Put> puts);
  Status note_newer(std::span<const Put> puts);
  void drop_older();
  Status keep(const Put& put);
  bool hand_over();
  bool end_service();
  // Not before the keeper process has said that it would write it, where that is asked for.
  bool keeps() const { return !lost_keeper_ && (!needs_keeper_ || segments_.is_acknowledged()); }
  void look_for_keeper();
  // As all ranks know alike.
  bool holds_nothing() const { return announced_ && !independent_ && !holds_; }

  std::shared_ptr<SegmentMemory> memory_;
  NodeSegments segments_;
  Holder& writer_;
  // Of the segments: a file whose window finds no memory goes on with other nodes.
  const bool several_;
  const bool first_of_node_;
  const bool announced_;      // ranks write by themselves after begin_independent() only
  bool independent_ = false;  // since then
  std::int64_t most_ = 0;     // of a rank in a collective call
  bool watching_ = false;
  bool paused_ = false;  // nothing is kept now: CoreFile::space_freed
  // What was kept as space was freed could not be written: then nothing is kept until it is, and each rank
  // remembers what it has put meanwhile, which may lie in that space.
  bool owes_ = false;
  std::vector<Extent> newer_;
  bool locks_ = false;
  std::uint64_t file_number_ = 0;  // under which the keeper process has the file, on the node's first rank
  std::uint64_t connection_ = 0;   // to that process
  bool guarded_ = false;
  bool needs_keeper_ = false;
  bool holds_ = false;                              // collective writes
  bool has_level1_ = false, lacks_level1_ = false;  // memory for it
  bool lost_keeper_ = false;                        // nothing is kept any more
  bool memory_stays_ = true;
};

}  // namespace forebay
