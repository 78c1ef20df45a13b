// Who uses a node's window: the ranks of one file at a time, though several threads of them may come with a
// file each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay {

/// One process's view of a word in memory that all ranks of the node see (zeroed at first). All ranks of a
/// user come in and go out once for each of their collective calls. The first one takes the lease for the
/// user, and the last one that goes gives it back. Where ranks took it for different users, none of these
/// users has it whole: they find that out when they agree, and go.
class NodeLease {
 public:
  static constexpr std::size_t kBytes = 128;

  explicit NodeLease(void* memory) : word_(static_cast<std::atomic<std::uint64_t>*>(memory)) {}
  NodeLease(const NodeLease&) = delete;
  NodeLease& operator=(const NodeLease&) = delete;

  /// Whether this rank is in, for a user (a number below 2^24, the same on all ranks). It waits for other
  /// ranks only where this one was with them in what they leave, so that nobody waits for a thread of its
  /// own: a program of one thread is never refused. `idle`, where it is not null, is called meanwhile.
  bool enter(std::uint32_t user, void (*idle)());
  void leave();

  /// Whether nobody has it, for this moment.
  bool is_free() const;

 private:
  std::atomic<std::uint64_t>* word_;
  std::atomic<int> inside_{0};          // threads of this process that are in
  std::atomic<std::uint64_t> left_{0};  // the ticket of the lease that this process left last
};

}  // namespace forebay
