// The wide rounds of a collective read: all owners of the file read in each. Knows no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/outbox_rounds.hpp"

namespace forebay {

/// One rank's part in a collective read over several nodes, through the outbox of its node. A round: the
/// ranks list what they want as far as their memory allows, all nodes agree how far that is, owners get the
/// nodes' requests, read, and answer, and the ranks take what they listed.
///
/// Other reads through the window (FetchRun) give the same bytes.
class OutboxFetch {
 public:
  /// `gap`: as FetchRun.
  OutboxFetch(const Flush& flush, Outbox& outbox, std::span<const Get> gets, std::int64_t gap);
  OutboxFetch(const OutboxFetch&) = delete;

  /// All rounds; this rank's own outcome. `hull`, `shift`: as FetchRun::begin.
  Status run(Extent hull, int shift);

 private:
  using Rounds = OutboxRounds<Get>;
  /// Listed runs of one request.
  struct Part {
    Sink* sink;
    std::size_t runs;
  };
  /// Cells that a node asks for, with messages that lie in its letter, or, of this node's own, in the outbox.
  struct Asked {
    std::int64_t cell;
    std::span<const std::byte> message;
    std::int64_t bytes;  ///< of the answer
    const std::byte* data;
  };

  template <class Work>
  void attempt(Work&& work);
  Rounds::Course list();
  void exchange(std::int64_t end);
  bool ask(int node, std::int64_t cell, std::span<const std::byte> message);
  void read(std::int64_t end);
  void answer(int node);
  void forget_marks(std::int64_t end);
  void pick(std::int64_t end);
  void barrier();

  Flush f_;
  Outbox& outbox_;
  Rounds rounds_;
  std::int64_t gap_;
  Status status_;
  int shift_ = 0;
  bool lost_ = false;  // this rank asks for nothing more
  // What is listed, in the order of its bytes:
  std::vector<Run> runs_;
  std::vector<Part> parts_;
  // Of an owner, by node:
  std::vector<std::vector<std::byte>> letters_, received_;
  std::vector<std::vector<Asked>> asked_;
};

}  // namespace forebay
