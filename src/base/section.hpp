// Where the end of the process must not catch a thread: in the middle of what would be written out then.
//
// A signal that arrives in a section of its own thread is noted, and handled when the section is left. A
// thread that ends the process while another is in a section waits for that one, and keeps it from the next:
// a gate. Entering costs a store and a load; who closes the gate waits until stores have arrived.
#pragma once

#include <atomic>

namespace forebay {

class Section {
 public:
  Section() noexcept { enter(); }
  ~Section() { leave(); }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // Sections nest. They are short: no message, and no other rank, is waited for in one, unless it is in the
  // middle of a copy or a write of its own.
  static void enter() noexcept {
    Thread& t = thread();
    t.depth.store(t.depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (gate.load(std::memory_order_acquire) != 0) wait_at_gate(t);
  }
  static void leave() noexcept {
    Thread& t = *self;
    const int depth = t.depth.load(std::memory_order_relaxed) - 1;
    t.depth.store(depth, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (depth == 0 && t.noted.load(std::memory_order_relaxed) != 0) handle_noted(t);
  }

  /// Whether this thread is in one.
  static bool inside() noexcept { return self != nullptr && self->depth.load(std::memory_order_relaxed) > 0; }

  // For signal handlers, of a thread that is in a section:

  /// `number` is handled by `handler` when the section is left. False: it was noted so long ago already that
  /// the section must be stuck. A timer sends SIGALRM by then, for which the caller has a handler.
  static bool note(int number, void (*handler)(int)) noexcept;
  /// The first signal of the process that was noted; 0: none.
  static int noted() noexcept;

  // The gate, for a thread that writes out:

  enum class Gate {
    closed,   ///< no other thread is in a section, and none enters one
    crowded,  ///< a thread is still in one after all the time that can be waited
    taken     ///< another thread has closed it, and goes on writing
  };
  /// Closes it, also once more where this thread had done so.
  static Gate close() noexcept;
  static void open() noexcept;
  /// Whether it could only be closed with a thread inside.
  static bool crowded() noexcept;

 private:
  struct Thread {
    std::atomic<int> depth{0};
    std::atomic<int> noted{0};
    std::atomic<bool> used{true};
    Thread* next = nullptr;
  };

  static Thread& thread() noexcept {
    Thread* const t = self;
    return t != nullptr ? *t : enlist();
  }
  static Thread& enlist() noexcept;
  static void wait_at_gate(Thread& thread) noexcept;
  static void handle_noted(Thread& thread) noexcept;
  static bool all_outside(const Thread* but) noexcept;
  static std::atomic<Thread*>& threads() noexcept;

  // Not looked up by a call, also in a library that is loaded late.
  __attribute__((tls_model("initial-exec"))) static constinit thread_local Thread* self;
  static constinit std::atomic<int> gate;  // the thread that closed it; 0: it is open
};

}  // namespace forebay
