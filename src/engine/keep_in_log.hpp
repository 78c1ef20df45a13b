// Writes go to the log of a node, and from there into the file. On one node they do so in the order of their
// calls. On several nodes collective writes go to their owners' logs, what ranks write by themselves to their
// own; where two logs would have the same bytes, what is older goes into the file first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/file_context.hpp"
#include "engine/keeper.hpp"
#include "engine/termination.hpp"
#include "log/node_log.hpp"

namespace forebay {

class KeepInLog final : public Keeper, public Holder {
 public:
  /// Collective. Fails on all ranks, each with its own reason, or on none.
  static Status create(FileContext& file, std::unique_ptr<Keeper>& out);
  ~KeepInLog() override;

  Status write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                   When when) override;
  Status write(std::span<const Put> puts, When when) override;
  Status write_at(const Piece& piece) override;
  Status flush() override;
  Status flush_for(FlushFor why) override;
  bool syncs_in_log() const override { return file_.settings.log_sync == LogSync::log; }
  bool flush_waits() const override { return true; }
  Status flush_independent() override;
  Status read_at(std::int64_t offset, std::byte* data, std::int64_t length) override;
  Status read(std::span<const Get> gets) override;
  Status before_collective_read(std::int64_t& kept) override;
  Status flush_kept() override { return flush(); }
  Status barrier_around_read() override;
  Status begin_direct_writes(bool collective) override;
  void handle_given_away() override { log_->switch_off(); }
  void space_freed() override;
  bool holds() const override { return holds_; }
  bool survives() const override { return true; }
  std::int64_t end_of_kept() const override { return log_->end(); }
  std::int64_t segment_bytes() const override;
  Level1Use level1(Level1Memory& shared) override;
  bool write_in_signal(const Piece& piece) noexcept override;
  std::shared_ptr<SegmentMemory> close() override;

  void write_out(Ending ending) noexcept override;

 private:
  KeepInLog(FileContext& file, std::unique_ptr<NodeLog> log);
  void be_watched();
  Status put_older_first(std::span<const Put> puts, Status& mine, std::span<std::int64_t> agree_max,
                         bool through);
  Status write_together(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max);
  void forget_logged();
  Status drain_together();
  Status wait_for_others(const Extent& place);
  Status seen(Status status);
  void tell_keeper();
  bool closes_in_background() const;
  void count(bool first);
  void leave_to_keeper();

  std::unique_ptr<NodeLog> log_;
  std::unique_ptr<Storage> logged_;
  Storage& below_;            // the file
  std::uint64_t served_ = 0;  // the keeper process's number of it; 0: it has not heard
  bool holds_ = false;
  bool watching_ = false;
  // Of several nodes: what may be in their logs, of collective calls at the owners that the layout says, or
  // in the logs of whoever wrote it, as all ranks know; and what this rank has written by itself.
  const bool several_;
  bool all_served_ = false;
  Status freed_;         // what has kept bytes of freed space out of the file
  bool paused_ = false;  // nothing is kept: space of the file is free, which others may have next
  Extent by_owners_ = kNothing, loose_ = kNothing, own_ = kNothing;
  // Ranks read alone what all have written together: the calls whose bytes other nodes may still have.
  bool reads_alone_ = false;
  struct Held {
    Extent hull;
    std::int64_t call;
  };
  std::vector<Held> held_;
  std::int64_t calls_ = 0;
  static constexpr Extent kNothing{kNoOffset, 0};
};

}  // namespace forebay
