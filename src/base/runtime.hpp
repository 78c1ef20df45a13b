// What a process runs under: MPI, or nothing. The engine asks here, so that it need not know MPI.
#pragma once

namespace forebay {

struct Runtime {
  bool (*works)() noexcept;            ///< its calls are possible now
  void (*before_end)(void (*call)());  ///< has `call` called at the beginning of its end, the last one first
};

/// Once, by whoever knows one; without, nothing ever works or ends.
void set_runtime(const Runtime& runtime) noexcept;
/// Without a runtime: false.
bool runtime_works() noexcept;
/// Without one, or where it does not work: nothing is called.
void before_runtime_ends(void (*call)());

}  // namespace forebay
