// A file's place in a set of windows. Which set that is, rank 0 of the file says to all of its ranks, so that
// it is the same on all of them in whatever order threads come with their files.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/settings.hpp"
#include "engine/node_set.hpp"
#include "ranks/agreement.hpp"

namespace forebay {

struct ListedSet;

/// What rank 0 chose: to be sent to the other ranks of the file.
struct SetChoice {
  enum : std::size_t { kSet, kFresh, kPlace, kUser, kSyncPoints, kCount };
  std::array<std::int64_t, kCount> values{};
};

class Seat {
 public:
  Seat() = default;
  ~Seat();  ///< of a file that was not closed: the set stays
  Seat(Seat&& other) noexcept = default;
  Seat& operator=(Seat&& other) noexcept;
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  /// On rank 0 of `comm`: a set that is there, preferably one that nobody has the window of, or a new one.
  /// `round_bytes` > 0: one that has or gets a window for such rounds, and not `other_than`.
  static SetChoice choose(const Communicator& ranks, const SetWish& wish, bool fresh = false,
                          std::int64_t round_bytes = 0, const NodeSet* other_than = nullptr);
  /// Collective: takes what was chosen. This file holds the set until it lets go: nobody else makes anything
  /// in it, or joins it.
  Seat(const Communicator& ranks, const SetWish& wish, const SetChoice& choice);

  NodeSet& set() const { return *set_; }
  std::shared_ptr<NodeSet> shared_set() const { return set_; }
  bool empty() const { return set_ == nullptr; }
  std::uint32_t user() const { return user_; }
  /// Of this file, on one node; null: its ranks have messages alone.
  NodeWindow* sync_point() const;

  /// Collective: the set's communicator, where no other thread can come with another file of it; else one of
  /// this file's own, which a closed file has left, or a new one.
  std::shared_ptr<const Communicator> take_comm(const Communicator& ranks);
  void leave_comm(std::shared_ptr<const Communicator> comm);

  /// For this moment, of rank 0's list: no other file uses the set.
  bool sole_user() const;
  void let_go();  ///< after holding

  /// Before a set without a window gets one: others, which nobody uses, keep little of what windows may have.
  static void make_room(const Settings& settings);

  /// The end of the seat, so that all ranks do the same: whether the set may go, which rank 0 says, and
  /// whether it may stay, where all ranks have a vote; and what comes of it. `spare` is for the next file.
  struct Votes {
    Agreement::All may_go, may_stay;
    bool goes(const Agreement& agreed) const { return agreed[may_go] && !agreed[may_stay]; }
  };
  Votes vote(Agreement& agreement);
  void leave(bool goes, const Settings& settings, std::shared_ptr<SegmentMemory> spare = nullptr);

 private:
  std::shared_ptr<NodeSet> set_;
  std::shared_ptr<ListedSet> listed_;
  int place_ = -1;
  std::uint32_t user_ = 0;
  bool holds_ = false;
  std::shared_ptr<void> runtime_;  // kept possible
};

}  // namespace forebay
