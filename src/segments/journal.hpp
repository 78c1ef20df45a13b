// What a rank is changing in its node's segments, so that whoever comes after its death in the middle of it
// takes out just that, or puts back what was there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "request/run.hpp"

namespace forebay {

/// Runs of the file, within segments that the rank has locked: those that it is changing, and the one before
/// them, of an element that the edge of a segment cuts. One store begins a change and one ends it, so that
/// both parts of such an element count at the same moment.
class alignas(128) Journal {
 public:
  static constexpr std::size_t kRuns = 512;

  void initialize() { state_ = 0; }
  /// Where the rank lists what it is about to change.
  std::span<Run> runs() { return runs_; }

  /// Before begin(): which of them are saved, their bytes as they were lying one after the other in the
  /// rank's memory for that.
  void save_none() { saved_ = {}; }
  void save(std::size_t run) { saved_[run / 64] |= std::uint64_t{1} << run % 64; }
  /// The first so many of them are changed from here on.
  void begin(std::size_t runs) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state_.store(static_cast<unsigned>(runs) * kUnit + cut(), std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// They are whole now, or as they were. The run before them stays listed.
  void end() { state_.store(cut(), std::memory_order_release); }
  /// They are whole now and so is the run before them; instead of that one the next part of `cut` is waited
  /// for, unless null.
  void end(const Run* cut) {
    unsigned next = 0;
    if (cut != nullptr) {
      next = this->cut() == 1 ? 2 : 1;
      cut_[next - 1] = *cut;
    }
    state_.store(next, std::memory_order_release);
  }
  /// A run is listed whose next part is waited for.
  bool waits() const { return cut() != 0; }
  /// The next part does not come, or does not come at once.
  void stop_waiting() {
    state_.store(state_.load(std::memory_order_relaxed) & ~kCut, std::memory_order_release);
  }

  /// Calls f(run, saved) for each run that is listed; `saved`: where in the rank's memory for that its bytes
  /// lie as they were, or -1.
  template <class F>
  void for_each(F&& f) const {
    const unsigned state = state_.load(std::memory_order_acquire);
    if ((state & kCut) != 0) f(cut_[(state & kCut) - 1], std::int64_t{-1});
    std::int64_t saved = 0;
    for (unsigned i = 0; i < state / kUnit; ++i) {
      const bool is_saved = (saved_[i / 64] >> i % 64 & 1) != 0;
      f(runs_[i], is_saved ? saved : -1);
      if (is_saved) saved += runs_[i].length;
    }
  }

 private:
  static constexpr unsigned kUnit = 4, kCut = 3;
  unsigned cut() const { return state_.load(std::memory_order_relaxed) & kCut; }

  std::atomic<unsigned> state_;  // kUnit times the runs being changed, and which of cut_ counts; 0: none
  std::array<std::uint64_t, kRuns / 64> saved_;
  Run cut_[2];
  Run runs_[kRuns];
};

}  // namespace forebay
