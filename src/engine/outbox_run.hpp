// The wide rounds of a collective flush: every owner of the file is at work in each, whatever the range of
// the file that a node's memory could hold. Knows no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/outbox_rounds.hpp"
#include "engine/stripe_writer.hpp"

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
  OutboxRun(const OutboxRun&) = delete;

  /// All rounds; this node's outcome. `first`, `shift`: as FlushRun::begin.
  Status run(std::int64_t first, int shift);

 private:
  using Rounds = OutboxRounds<Put>;
  /// What an owner has to write of a round that has come in.
  struct Arrived {
    int parity = 0;
    std::vector<Rounds::Block> blocks{};  // in the order of slots
    Extent range{0, 0};
  };

  template <class Work>
  void attempt(Work&& work);
  Rounds::Course list();
  void exchange(std::int64_t end);
  bool put_in_slot(std::int64_t cell, std::span<const std::byte> message);
  void write(const Arrived& round);

  Flush f_;
  Outbox& outbox_;
  Rounds rounds_;
  Status status_;
  int shift_ = 0;
  std::unique_ptr<StripeWriter> writer_;         // where this rank writes
  std::vector<std::vector<std::byte>> letters_;  // by node
};

}  // namespace forebay
