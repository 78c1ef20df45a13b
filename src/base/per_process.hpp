// State that a process has once. Where threads or coroutines stand for processes (the ranks of a test or of a
// simulated machine), each has its own.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/thread_state.hpp"

namespace forebay {

/// While it lives on a thread, or on a coroutine whose ThreadState comes and goes with it, per_process()
/// gives that state of its own.
class PretendProcess {
 public:
  PretendProcess() : outer_(thread_state.process) { thread_state.process = this; }
  ~PretendProcess() {
    // The last one first; their ends may ask for others.
    while (!states_.empty()) {
      const std::shared_ptr<void> last = std::move(states_.back().second);
      states_.pop_back();
    }
    thread_state.process = outer_;
  }
  PretendProcess(const PretendProcess&) = delete;
  PretendProcess& operator=(const PretendProcess&) = delete;

 private:
  template <class State>
  friend State& per_process();

  PretendProcess* outer_;
  std::vector<std::pair<const void*, std::shared_ptr<void>>> states_;  // by something of their type's
};

template <class State>
State& per_process() {
  static auto* const whole = new State;  // never destroyed: exit order is not ours to choose
  PretendProcess* const pretended = thread_state.process;
  if (pretended == nullptr) return *whole;
  auto& states = pretended->states_;
  const auto found = std::ranges::find(states, &whole, [](const auto& s) { return s.first; });
  if (found != states.end()) return *static_cast<State*>(found->second.get());
  auto made = std::make_shared<State>();
  states.emplace_back(&whole, made);
  return *made;
}

}  // namespace forebay
