// The wide rounds of a collective flush: every owner of the file is at work in each, whatever the range of
// the file that a node's memory could hold. Knows no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/flush.hpp"
#include "engine/stripe_writer.hpp"
#include "exchange/outbox.hpp"

namespace forebay {

/// One rank's part in a flush over several nodes, through the outbox of its node. A round: the ranks list
/// what they put as far as their memory allows, all nodes agree how far that is, the ranks make messages of
/// it, the aggregators exchange these, and owners write. Where a rank can write for each aggregator, it
/// writes a round while the aggregator exchanges the next one, so that no other node waits for its file.
///
/// Other flushes of the window (FlushRun) give the same file.
class OutboxRun {
 public:
  /// `flush.domains` says who owns what; the outbox's rounds how far a round may reach.
  OutboxRun(const Flush& flush, Outbox& outbox, std::span<const Put> puts);
  ~OutboxRun();
  OutboxRun(const OutboxRun&) = delete;

  /// All rounds; this node's outcome. `first`, `shift`: as FlushRun::begin.
  Status run(std::int64_t first, int shift);

 private:
  /// Of the round that is listed.
  struct Course {
    std::int64_t end;   ///< of what it holds
    std::int64_t next;  ///< where the next one begins; kNoOffset: it was the last
  };
  struct Block {
    std::int64_t begin, end;
  };
  /// What an owner has to write of a round that has come in.
  struct Arrived {
    int parity = 0;
    std::vector<Block> blocks{};  // in the order of slots
    Extent range{0, 0};
  };

  template <class Work>
  void attempt(Work&& work);
  void open_range(std::int64_t at);
  Course list();
  bool list_cell(std::int64_t cell);
  Course agree(Course mine);
  void exchange(std::int64_t end);
  bool take(std::span<const std::byte> letter);
  bool put_in_slot(std::int64_t cell, std::span<const std::byte> message);
  void write(const Arrived& round);
  void conclude();
  std::int64_t cell_of(std::int64_t offset) const { return (offset - range_.begin) / rounds_.cell; }

  Flush f_;
  Outbox& outbox_;
  const WideRounds& rounds_;
  FileDomains wide_;
  std::unique_ptr<ActiveItems<Put>> active_;  // null where memory lacks, and when all is listed
  Status status_;
  int shift_ = 0;
  std::unique_ptr<StripeWriter> writer_;  // where this rank writes
  Extent range_{0, 0};                    // of the file, whose slots the round has
  std::int64_t base_ = 0;                 // the round begins there
  std::vector<Block> blocks_;             // of the owner for whom this rank exchanges or writes
  // What was taken from a cursor and did not fit:
  Put pending_put_;
  std::int64_t pending_cell_ = 0;
  std::vector<Run> pending_;
  std::vector<std::vector<std::byte>> letters_;  // by node
};

}  // namespace forebay
