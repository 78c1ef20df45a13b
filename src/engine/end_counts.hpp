// Which records of a file are whole when its processes end one by one, each writing what it keeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay {

/// Numbers of records, in memory that all ranks of a file share: a record is whole when no rank keeps
/// anything any more and every rank has put its part. A rank that dies with something kept is never done.
class EndCounts {
 public:
  struct Rank {
    std::atomic<std::int64_t> together;  // four times the records of its collective puts, and what it is doing
    std::atomic<std::int64_t> alone;  // of its independent puts since they were last counted together
  };
  static std::size_t bytes_needed(int ranks) { return static_cast<std::size_t>(ranks) * sizeof(Rank); }

  EndCounts() = default;
  /// Zeroes this rank's part. Nobody may keep anything before all ranks have done so.
  EndCounts(void* memory, int ranks, int rank)
      : ranks_(static_cast<Rank*>(memory)), count_(ranks), rank_(rank) {
    set_alone(0);
    publish();
  }

  /// From now on this rank keeps something; everything is in the file.
  void keeps() { set(keeps_, true); }
  void written() { set(keeps_, false); }
  /// The program has come to its end on this rank: it puts nothing any more.
  void finishes() { set(finished_, true); }
  void set_together(std::int64_t records) {
    together_ = records;
    publish();
  }
  void set_alone(std::int64_t records) {
    alone_ = records;
    if (ranks_ != nullptr) ranks_[rank_].alone = records;
  }
  /// This rank's own.
  std::int64_t together() const { return together_; }
  std::int64_t alone() const { return alone_; }

  /// How many records are whole; -1 while a rank still keeps something, or where the ranks share no memory. Of
  /// independent puts those records count that every rank has reached, and once all have finished those that any has.
  std::int64_t whole() const {
    if (ranks_ == nullptr) return -1;
    std::int64_t together = INT64_MAX, most = 0, least = INT64_MAX;
    bool finished = true;
    for (int r = 0; r < count_; ++r) {
      const std::int64_t state = ranks_[r].together.load();
      if ((state & kKeeps) != 0) return -1;
      finished = finished && (state & kFinished) != 0;
      together = std::min(together, state / kUnit);
      const std::int64_t alone = ranks_[r].alone.load();
      most = std::max(most, alone);
      least = std::min(least, alone);
    }
    return std::max(together, finished ? most : least);
  }

 private:
  static constexpr std::int64_t kKeeps = 1, kFinished = 2, kUnit = 4;

  void set(bool& what, bool value) {
    what = value;
    publish();
  }
  void publish() {
    if (ranks_ != nullptr)
      ranks_[rank_].together = kUnit * together_ + (keeps_ ? kKeeps : 0) + (finished_ ? kFinished : 0);
  }

  Rank* ranks_ = nullptr;
  int count_ = 0;
  int rank_ = 0;
  std::int64_t together_ = 0;
  std::int64_t alone_ = 0;
  bool keeps_ = false;
  bool finished_ = false;
};

}  // namespace forebay
