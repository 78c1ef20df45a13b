// What a rank is changing in its node's segments, so that whoever comes after its death in the middle of it
// takes out just that.
#pragma once

#include <atomic>
#include <cstddef>
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

  /// The first so many of them are changed from here on.
  void begin(std::size_t runs) {
    const unsigned cut = state_.load(std::memory_order_relaxed) % kUnit;
    state_.store(static_cast<unsigned>(runs) * kUnit + cut, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// They are whole now, or gone. The run before them stays listed.
  void end() { state_.store(state_.load(std::memory_order_relaxed) % kUnit, std::memory_order_release); }
  /// They are whole now and so is the run before them; instead of that one the next part of `cut` is waited
  /// for, unless null.
  void end(const Run* cut) {
    unsigned next = 0;
    if (cut != nullptr) {
      next = state_.load(std::memory_order_relaxed) % kUnit == 1 ? 2 : 1;
      cut_[next - 1] = *cut;
    }
    state_.store(next, std::memory_order_release);
  }
  /// A run is listed whose next part is waited for.
  bool waits() const { return state_.load(std::memory_order_relaxed) % kUnit != 0; }
  /// The next part does not come, or does not come at once.
  void stop_waiting() {
    state_.store(state_.load(std::memory_order_relaxed) / kUnit * kUnit, std::memory_order_release);
  }

  /// Calls f for each run that is listed.
  template <class F>
  void for_each(F&& f) const {
    const unsigned state = state_.load(std::memory_order_acquire);
    if (state % kUnit != 0) f(cut_[state % kUnit - 1]);
    for (unsigned i = 0; i < state / kUnit; ++i) f(runs_[i]);
  }

 private:
  static constexpr unsigned kUnit = 4;
  std::atomic<unsigned> state_;  // kUnit times the runs being changed, and which of cut_ counts; 0: none
  Run cut_[2];
  Run runs_[kRuns];
};

}  // namespace forebay
