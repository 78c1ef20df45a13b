// Writes go to the node's log, and from there into the file: one node's ranks, in any order of their calls.
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
  Status begin_direct_writes(bool collective) override;
  void handle_given_away() override { log_->switch_off(); }
  bool holds() const override { return holds_; }
  bool survives() const override { return true; }
  std::int64_t end_of_kept() const override { return log_->end(); }
  /// What a returned write has put is in the log.
  Level1Use level1(Level1Memory& /*shared*/) override { return Level1Use::none; }
  bool write_in_signal(const Piece& piece) noexcept override;
  std::shared_ptr<SegmentMemory> close() override;

  void write_out(Ending ending) noexcept override;

 private:
  KeepInLog(FileContext& file, std::unique_ptr<NodeLog> log);
  void be_watched();
  Status seen(Status status);
  void tell_keeper();
  bool closes_in_background() const;
  void leave_to_keeper();

  std::unique_ptr<NodeLog> log_;
  std::unique_ptr<Storage> logged_;
  Storage& below_;            // the file
  std::uint64_t served_ = 0;  // the keeper process's number of it; 0: it has not heard
  bool holds_ = false;
  bool watching_ = false;
};

}  // namespace forebay
