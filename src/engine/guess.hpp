// Whether it pays to guess where the next collective flush begins, from how the last guesses went.
#pragma once

#include <algorithm>

namespace forebay {

/// The same on all ranks: it learns only from what they agreed on.
class Guess {
 public:
  bool worth_it() const { return pause_ == 0; }
  /// log2 of the alignment that a guess is made with: that of the last flush.
  int shift() const { return shift_; }
  /// Whether there was one. What crosses between nodes is told in units of that.
  bool knows_shift() const { return knows_shift_; }

  /// After a flush, `made` and `right` a guess or not. A wrong one costs the scattering of a round, and so
  /// the next tries come later and later.
  void learn(bool made, bool right, int shift) {
    shift_ = shift;
    knows_shift_ = true;
    if (!made) {
      pause_ = std::max(0, pause_ - 1);
    } else if (right) {
      patience_ = 1;
    } else {
      pause_ = patience_;
      patience_ = std::min(2 * patience_, kMostPause);
    }
  }

 private:
  static constexpr int kMostPause = 64;
  int shift_ = 0;
  bool knows_shift_ = false;
  int pause_ = 0;
  int patience_ = 1;
};

}  // namespace forebay
