// A collective call that loses patience: whoever waits long in one says, once, for which ranks.
#pragma once

#include <memory>
#include <string_view>

#include "ranks/communicator.hpp"

namespace forebay {

/// The collective call that this thread is in, for what a long wait in it has to say. Lives on the stack of
/// the call; one within another is part of that. Operations complete as others do, with the same messages and
/// no more; only after forebay_patience_seconds the ranks that wait are asked who they are.
class CollectiveCall {
 public:
  struct About {
    const char* call;           ///< what the user would call it: "collective write"
    std::string_view file;      ///< has to stay
    const Communicator* ranks;  ///< that take part; has to stay
    bool own;                   ///< nobody else sends messages on that
    int patience_seconds;       ///< the same on all ranks; 0: never says anything
    const char* remedy = "";    ///< what to do where ranks are missing: a sentence
  };
  explicit CollectiveCall(const About& about);
  ~CollectiveCall();
  CollectiveCall(const CollectiveCall&) = delete;
  CollectiveCall& operator=(const CollectiveCall&) = delete;

  /// All ranks have entered the call. Whoever does not wait from now on is at work on it.
  static void all_have_come();

 private:
  friend void waited(double seconds) noexcept;
  void look_around(double seconds);

  About about_;
  bool outermost_;
  bool all_here_ = false;
  std::unique_ptr<Communicator::Search> search_;
};

/// To be called now and then by a thread that waits for other ranks, with the seconds it has waited so far.
/// Does nothing before a tenth of a second.
void waited(double seconds) noexcept;

}  // namespace forebay
