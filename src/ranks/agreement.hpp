// What the ranks of a collective call agree on: values, in one message, and failures, which all return.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "ranks/communicator.hpp"

namespace forebay {

/// Values that all ranks reduce in one message. Every rank adds values of the same kinds in the same order;
/// after the reduction (reduce_over, FileContext::agree, WindowUse::agree) a[value] is the same on all of
/// them.
class Agreement {
 public:
  static constexpr std::size_t kMost = 20;       ///< values in all; NodeWindow::kMostAgreed
  static constexpr std::size_t kMostMaxima = 8;  ///< of them, of the caller of a collective call

  struct Place {
    std::size_t at;
  };
  struct Minimum : Place {};
  struct Maximum : Place {};
  struct All : Place {};
  struct Any : Place {};
  struct Same : Place {};

  Minimum minimum(std::int64_t value) { return {add(value)}; }
  Maximum maximum(std::int64_t value) { return {add(~value)}; }
  /// Whether it is so on every rank.
  All all(bool value) { return {add(value ? 0 : -1)}; }
  Any any(bool value) { return {add(value ? -1 : 0)}; }  ///< whether it is so on a rank
  Same same(std::int64_t value) { return add(value), Same{add(~value)}; }
  void sum(std::int64_t value) { sum_ = {value}, sums_ = 1; }  // at most one
  /// The caller's values, which the reduction replaces by the greatest of each.
  void maxima(std::span<std::int64_t> values) {
    maxima_ = values;
    maxima_at_ = count_;
    for (const std::int64_t value : values) add(~value);
  }

  std::int64_t operator[](Minimum value) const { return least_[value.at]; }
  std::int64_t operator[](Maximum value) const { return ~least_[value.at]; }
  bool operator[](All value) const { return least_[value.at] == 0; }
  bool operator[](Any value) const { return least_[value.at] != 0; }
  bool operator[](Same value) const { return least_[value.at] == ~least_[value.at - 1]; }
  std::int64_t sum() const { return sum_[0]; }

  /// Collective, by messages.
  void reduce_over(const Communicator& ranks) {
    ranks.reduce(least(), sums(), nullptr);
    reduced();
  }
  /// For whoever reduces: the least of these, entry by entry, and the sums of those; then reduced().
  std::span<std::int64_t> least() { return {least_.data(), count_}; }
  std::span<std::int64_t> sums() { return {sum_.data(), sums_}; }
  void reduced() {
    for (std::size_t i = 0; i < maxima_.size(); ++i) maxima_[i] = ~least_[maxima_at_ + i];
  }

 private:
  std::size_t add(std::int64_t value) {
    assert(count_ < kMost);
    least_[count_] = value;
    return count_++;
  }

  std::array<std::int64_t, kMost> least_;  // the complement of what the greatest is wanted of
  std::array<std::int64_t, 1> sum_{};
  std::size_t count_ = 0;
  std::size_t sums_ = 0;
  std::span<std::int64_t> maxima_;
  std::size_t maxima_at_ = 0;
};

/// Collective. The lowest failing rank's code and message on every rank (its own on a rank that failed
/// itself); ok when all are.
Status agree_outcome(const Communicator& ranks, const Status& mine);

/// Collective; only when all ranks know that at least one failed.
Status spread_failure(const Communicator& ranks, const Status& mine);

}  // namespace forebay
