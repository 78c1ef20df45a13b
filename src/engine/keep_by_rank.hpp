// Commit mode for files whose caller flushes where the order of the ranks needs it, as PnetCDF's do: each
// rank keeps its own puts over many calls. Each collective call decides in its one reduction whether all
// ranks keep theirs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory_account.hpp"
#include "engine/exit_count.hpp"
#include "engine/keep_by_node.hpp"
#include "engine/keep_nothing.hpp"
#include "engine/keeper.hpp"
#include "engine/termination.hpp"
#include "request/extent_set.hpp"
#include "request/pool.hpp"
#include "storage/bypass.hpp"

namespace forebay {

class WindowUse;

class KeepByRank final : public Keeper, public Holder {
 public:
  /// The file has a descriptor and outlives this. `counts`: ExitCount::share.
  KeepByRank(FileContext& file, NodeMemory counts);
  ~KeepByRank() override;

  Status write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                   When when) override;
  Status write(std::span<const Put> puts, When when) override;
  Status write_at(const Piece& piece) override { return past().write_at(piece); }
  Status flush() override;
  Status flush_independent() override;
  Status read_at(std::int64_t offset, std::byte* data, std::int64_t length) override;
  Status read(std::span<const Get> gets) override;
  Status before_collective_read(std::int64_t& kept) override;
  Status flush_kept() override { return past().flush_kept(); }
  Status barrier_around_read() override { return past().barrier_around_read(); }
  Status begin_direct_writes(bool collective) override;
  void end_direct_writes() override { past().end_direct_writes(); }
  void handle_given_away() override { past().handle_given_away(); }
  void space_freed() override { past().space_freed(); }
  void space_taken() override { past().space_taken(); }
  /// From now on the node keeps what ranks put by themselves, where it has memory for it.
  void begin_independent() override;
  void end_independent() override { independent_ = false; }
  bool holds() const override { return !collective_.empty(); }
  std::int64_t segment_bytes() const override { return past().segment_bytes(); }
  void count_at_exit(std::int64_t offset, int width, std::int64_t collective,
                     std::int64_t independent) override {
    count_.set(offset, width, collective, independent);
  }
  bool write_in_signal(const Piece& piece) noexcept override { return past().write_in_signal(piece); }
  std::shared_ptr<SegmentMemory> close() override { return past().close(); }

  void write_out(Ending ending) noexcept override;
  void begin_reduction() noexcept override;
  void end_reduction() noexcept override { count_.end_reduction(); }

 private:
  class InUse;
  /// What is behind the pool.
  Keeper& past() { return node_ ? static_cast<Keeper&>(*node_) : nothing_; }
  const Keeper& past() const { return node_ ? static_cast<const Keeper&>(*node_) : nothing_; }
  void keep_on_node();
  bool overdue() const;
  bool make_room() noexcept;
  void keep(std::int64_t runs);
  void clear_pool();
  Status write_pool();
  bool keep_independent(std::span<const Put> puts);
  Status write_or_flush(std::span<const Put> puts, Status mine, std::span<std::int64_t> agree_max,
                        bool flush);
  Status flush_all(WindowUse& use, std::span<const Put> puts, Extent hull, int shift, std::int64_t runs,
                   Status mine);
  Status run_flush(WindowUse& use, std::span<const Put> puts, Status mine, Extent hull, int shift,
                   std::int64_t runs);

  Pool pool_;
  ExtentSet collective_;   // where kept collective calls put something, on any rank; the same on all ranks
  bool alone_ = false;     // independent puts of this rank are in the pool
  std::int64_t runs_ = 0;  // in the pool, by count_direct
  int calls_ = 0;          // collective calls that are kept
  int not_kept_ = 0;       // so many collective calls more are not kept; the same on all ranks
  int next_pause_ = 1;     // how many that will be after the next conflict
  std::chrono::steady_clock::time_point since_;  // the oldest bytes in the pool
  MemoryClaim claim_;

  // What is not in the pool is in the file, or from the first begin_independent() on the node keeps it.
  KeepNothing nothing_;
  std::unique_ptr<KeepByNode> node_;
  bool independent_ = false;  // ranks may have put by themselves; the same on all ranks

  // The end of the process.
  ExitCount count_;
  Bypass bypass_;
  std::atomic<bool> in_use_{false};  // the pool's requests are walked
  bool written_out_ = false;         // by the end of the process, which may be a while after
};

}  // namespace forebay
