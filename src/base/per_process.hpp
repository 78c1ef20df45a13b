// State that a process has once. Where threads stand for processes (the ranks of a test), each has its own.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace forebay {

/// While it lives on a thread, per_process() gives that thread state of its own.
class PretendProcess {
 public:
  PretendProcess() : outer_(current) { current = this; }
  ~PretendProcess() {
    // The last one first; their ends may ask for others.
    while (!states_.empty()) {
      const std::shared_ptr<void> last = std::move(states_.back().second);
      states_.pop_back();
    }
    current = outer_;
  }
  PretendProcess(const PretendProcess&) = delete;
  PretendProcess& operator=(const PretendProcess&) = delete;

 private:
  template <class State>
  friend State& per_process();

  static inline thread_local PretendProcess* current = nullptr;
  PretendProcess* outer_;
  std::vector<std::pair<const void*, std::shared_ptr<void>>> states_;  // by something of their type's
};

template <class State>
State& per_process() {
  static auto* const whole = new State;  // never destroyed: exit order is not ours to choose
  PretendProcess* const pretended = PretendProcess::current;
  if (pretended == nullptr) return *whole;
  auto& states = pretended->states_;
  const auto found = std::ranges::find(states, &whole, [](const auto& s) { return s.first; });
  if (found != states.end()) return *static_cast<State*>(found->second.get());
  auto made = std::make_shared<State>();
  states.emplace_back(&whole, made);
  return *made;
}

}  // namespace forebay
