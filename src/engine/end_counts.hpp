// Which records of a file are whole when its processes end one by one, each writing what it keeps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay {

/// Numbers of records, in memory that all ranks of a file share: a record is whole when no rank keeps anything
/// any more and every rank has put its part. A rank that dies with something kept is never done.
class EndCounts {
 public:
  struct Rank {
    std::atomic<std::int64_t> together;  // twice the records of its collective puts, plus 1 while it keeps something
    std::atomic<std::int64_t> alone;     // of its independent puts since they were last counted together
  };
  static std::size_t bytes_needed(int ranks) { return static_cast<std::size_t>(ranks) * sizeof(Rank); }

  EndCounts() = default;
  /// Zeroes this rank's part. Nobody may keep anything before all ranks have done so.
  EndCounts(void* memory, int ranks, int rank) : ranks_(static_cast<Rank*>(memory)), count_(ranks), rank_(rank) {
    if (ranks_ == nullptr) return;
    mine().together = 0;
    mine().alone = 0;
  }

  /// From now on this rank keeps something; everything is in the file.
  void keeps() { put(true); }
  void written() { put(false); }
  void set_together(std::int64_t records) {
    together_ = records;
    put(keeps_);
  }
  void set_alone(std::int64_t records) {
    alone_ = records;
    if (ranks_ != nullptr) mine().alone = records;
  }
  bool keeping() const { return keeps_; }
  /// This rank's own.
  std::int64_t together() const { return together_; }
  std::int64_t alone() const { return alone_; }

  /// How many records are whole; -1 while a rank still keeps something, or where the ranks share no memory.
  /// `orderly`: the program has come to its end; else of independent puts those records count that every rank has
  /// reached.
  std::int64_t whole(bool orderly) const {
    if (ranks_ == nullptr) return -1;
    std::int64_t together = INT64_MAX, most = 0, least = INT64_MAX;
    for (int r = 0; r < count_; ++r) {
      const std::int64_t state = ranks_[r].together.load();
      if ((state & 1) != 0) return -1;
      together = state / 2 < together ? state / 2 : together;
      const std::int64_t alone = ranks_[r].alone.load();
      most = alone > most ? alone : most;
      least = alone < least ? alone : least;
    }
    const std::int64_t alone = orderly ? most : least;
    return together > alone ? together : alone;
  }

 private:
  Rank& mine() { return ranks_[rank_]; }
  void put(bool keeps) {
    keeps_ = keeps;
    if (ranks_ != nullptr) mine().together = 2 * together_ + (keeps ? 1 : 0);
  }

  Rank* ranks_ = nullptr;
  int count_ = 0;
  int rank_ = 0;
  std::int64_t together_ = 0;
  std::int64_t alone_ = 0;
  bool keeps_ = false;
};

}  // namespace forebay
