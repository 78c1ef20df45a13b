// What files of one communicator use together: its topology, a window, rails and spare memory, made once and
// kept while somebody has use for them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/memory_account.hpp"
#include "base/settings.hpp"
#include "base/status.hpp"
#include "engine/flush.hpp"
#include "engine/node_memory.hpp"
#include "exchange/link.hpp"
#include "exchange/node_lease.hpp"
#include "exchange/node_window.hpp"
#include "exchange/outbox.hpp"
#include "keeper/connection.hpp"
#include "segments/node_segments.hpp"
#include "topology/topology.hpp"

namespace forebay {

/// Of the ranks of a node: a sync point for each file that may be used in a thread of its own, and the lease,
/// which says whose turn it is to have the window.
struct SyncPoints {
  NodeMemory memory;
  std::unique_ptr<NodeLease> lease;
  std::vector<std::unique_ptr<NodeWindow>> points;
};

/// A window for rounds of at most one size, and this rank's working memory for it. Files have it by turns,
/// each for a call of its ranks: SyncPoints::lease.
struct Window {
  NodeMemory memory;
  std::unique_ptr<NodeWindow> view;
  FlushScratch scratch;
  std::uint64_t sequence = 0;
  std::int64_t bytes = 0;  ///< of the node's memory
  std::int64_t round_bytes = 0;
  MemoryClaim claim;
  /// For wide rounds, once a file has asked for them; the last one's.
  struct {
    NodeMemory memory{};
    std::unique_ptr<Outbox> view{};
    MemoryClaim claim{};
  } outbox;
};

/// Memory for the segments of one file at a time.
struct SegmentMemory {
  NodeMemory memory;
  std::size_t bytes = 0;
  std::int64_t segment_bytes = 0;
  bool outlives = false;   ///< the ranks wish that the keeper process has it
  bool level1 = false;     ///< with a place for each rank's
  bool announced = false;  ///< announce_level1, by this rank
  KeptMemory kept;         ///< on the node's first rank, where it has
  MemoryClaim claim;
};

/// What of it is wished; `outlives`: NodeMemoryWish.
struct SegmentWish {
  std::int64_t segment_bytes;
  int count;
  bool outlives;
  bool level1;
};

/// Collective over `all`, and over the ranks of each node: such memory, over communicators that nobody else
/// uses now.
Status make_segments(const Communicator& node, const Communicator& all, const SegmentWish& wish,
                     std::shared_ptr<SegmentMemory>& out);

/// What a file wants of its set.
struct SetWish {
  int ranks_per_node = 0;
  int aggregators_per_node = 0;
  int owners = 0;
  bool one_node = false;  // all ranks are, without a wish
  NodeChoice owner_nodes{};
  bool operator==(const SetWish&) const = default;
};

/// Used by one thread at a time where it says "collective": by the file that holds it (engine/seat.hpp).
class NodeSet {
 public:
  /// Collective. `sync_points`: how many files may use it in threads of their own.
  NodeSet(const Communicator& ranks, const SetWish& wish, int sync_points);
  NodeSet(const NodeSet&) = delete;
  NodeSet& operator=(const NodeSet&) = delete;

  const Communicator& comm() const { return *comm_; }
  std::shared_ptr<const Communicator> shared_comm() const { return comm_; }
  /// Whether its files are used by one thread, in an order that all ranks have, and on one node: between
  /// nodes the end of the process reduces for each file, in any order.
  bool shares_comm() const { return count_of_sync_points_ == 1 && topology_.nodes == 1; }
  const Topology& topology() const { return topology_; }

  /// Collective, once. Code::no_shared_memory on every rank if any node has none.
  Status make_sync_points();
  /// Null until they are made.
  const SyncPoints* sync_points() const { return sync_points_.get(); }

  /// Null until it is made, and where its memory was wanted for something else since.
  Window* window() const { return window_.get(); }
  /// How large rounds may be; 0 without a window.
  std::int64_t capacity() const { return window_ ? window_->round_bytes : 0; }
  /// Claims what a window for such rounds will take, for the first flush that needs one; where there is a
  /// smaller one, its memory is free from now on.
  void plan_window(std::int64_t round_bytes);
  /// After plan_window: claims what an outbox for such rounds will take, for the first flush that needs one.
  void plan_outbox(const WideRounds& rounds);
  /// Collective: makes the window, and sync points where there are none. Code::no_shared_memory on every rank
  /// if any node has none.
  Status make_window(std::int64_t round_bytes);
  /// Collective, where there is a window: an outbox for such rounds, in the place of another. Without memory,
  /// as make_window.
  Status make_outbox(const WideRounds& rounds);

  /// Whether a file of this set may have left such memory: as all ranks know alike.
  bool may_have_spare() const { return asked_; }
  /// What one has left; null: nothing, or other memory, which is gone then.
  std::shared_ptr<SegmentMemory> take_spare(const SegmentWish& wish);
  /// Keeps it for the next file, instead of what was kept so far.
  void give_back(std::shared_ptr<SegmentMemory> memory);

  /// What this process claims for it, beside what files keep.
  std::int64_t claimed() const { return claimed_for_windows() + (spare_ ? spare_->claim.bytes() : 0); }
  /// Of that: the window and its outbox, those that are planned included.
  std::int64_t claimed_for_windows() const;
  /// Gives memory back that no open file uses; whoever comes next makes it anew.
  void drop_memory();

  /// Collective over aggregators, by the file that has the window: this rank's rail, made (and measured) on
  /// first use; null on others and on one node.
  Rail* rail(forebay::Link wanted);
  forebay::Link link_used() const { return link_used_; }
  /// Rail::rate of the last one made; 0 also on who has none.
  std::int64_t measured_rate() const { return measured_rate_; }
  /// Bytes a second that cross between nodes, of its slowest rail, as all ranks have agreed; 0: not known.
  /// Any thread may ask.
  std::int64_t link_rate() const { return link_rate_.load(std::memory_order_relaxed); }
  void note_link_rate(std::int64_t rate) { link_rate_.store(rate, std::memory_order_relaxed); }

 private:
  std::shared_ptr<const Communicator> comm_;
  Topology topology_;
  int count_of_sync_points_;
  std::unique_ptr<SyncPoints> sync_points_;
  std::unique_ptr<Window> window_;
  MemoryClaim planned_;         // of a window that is not there yet
  MemoryClaim planned_outbox_;  // what the largest one that is planned takes beyond the one that is there
  std::shared_ptr<SegmentMemory> spare_;
  bool asked_ = false;  // for it
  std::map<forebay::Link, std::unique_ptr<Rail>> rails_;
  forebay::Link link_used_ = forebay::Link::message;
  std::int64_t measured_rate_ = 0;
  std::atomic<std::int64_t> link_rate_{0};
};

}  // namespace forebay
