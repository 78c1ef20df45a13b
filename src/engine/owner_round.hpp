// What an owner does in a round, whether its bytes go to the file or come from there: its parts, what its
// node marked of them, and the exchange with the other nodes. Knows no MPI.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/packing.hpp"
#include "layout/file_domains.hpp"

namespace forebay {

struct Flush;
class Status;

/// An aggregator's, for one flush or fetch. Where there is one node, nothing is exchanged.
class OwnerRound {
 public:
  explicit OwnerRound(const Flush& flush);

  /// After the node's barrier: the parts of this rail in the round at `base`, and what the node marked of
  /// them; all that is marked lies in `hull`. Returns the marked bytes.
  /// `merged`: all ranks have merged together.
  std::int64_t gather(std::int64_t base, Extent hull, int parity, bool merged);

  /// What this node sends to the other owners: its bytes, or a request for theirs.
  enum class Sends { bytes, requests };
  /// Tells them how much it will be. Returns the least of all nodes' `next`.
  std::int64_t agree(Sends what, std::int64_t next, Status& status);
  /// The others' bytes come into the buffer, and their marks to those of this node.
  void exchange_bytes(Status& status);
  /// The others' requests, added to what this node wants.
  void exchange_requests(Status& status);
  /// What the others asked for, and what this node did.
  void exchange_answers(Status& status);

  // Of the round gathered last:
  std::int64_t base() const { return base_; }
  std::byte* buffer() const { return buffer_; }
  const std::uint64_t* merged() const { return merged_; }
  /// This owner's.
  std::span<const DomainPart> parts() const;

 private:
  const Flush& f_;
  std::vector<std::vector<DomainPart>> parts_;    // of this rail, by node
  std::vector<std::vector<std::byte>> requests_;  // of each node, until they are answered
  std::vector<PackPlan> plans_;
  std::vector<std::int64_t> sizes_;
  std::uint64_t* merged_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::int64_t base_ = 0;
};

}  // namespace forebay
