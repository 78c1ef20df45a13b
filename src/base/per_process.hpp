// State that a process has once. Where threads stand for processes (the ranks of a test), each has its own.
#pragma once

#include <map>
#include <memory>

namespace forebay {

/// While it lives on a thread, per_process() gives that thread state of its own.
class PretendProcess {
 public:
  PretendProcess() : outer_(current) { current = this; }
  ~PretendProcess() {
    states_.clear();
    current = outer_;
  }
  PretendProcess(const PretendProcess&) = delete;
  PretendProcess& operator=(const PretendProcess&) = delete;

 private:
  template <class State>
  friend State& per_process();

  static inline thread_local PretendProcess* current = nullptr;
  PretendProcess* outer_;
  std::map<const void*, std::shared_ptr<void>> states_;  // by the address of something of their type
};

template <class State>
State& per_process() {
  static auto* const whole = new State;  // never destroyed: exit order is not ours to choose
  PretendProcess* const pretended = PretendProcess::current;
  if (pretended == nullptr) return *whole;
  std::shared_ptr<void>& state = pretended->states_[&whole];
  if (state == nullptr) state = std::make_shared<State>();
  return *static_cast<State*>(state.get());
}

}  // namespace forebay
