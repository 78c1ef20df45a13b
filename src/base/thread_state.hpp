// What a thread is in the middle of. Where coroutines of one thread stand for ranks, whoever switches between
// them takes this along.
#pragma once

namespace forebay {

class PretendProcess;
class CollectiveCall;

struct ThreadState {
  PretendProcess* process = nullptr;  ///< per_process.hpp
  CollectiveCall* call = nullptr;     ///< the outermost one; ranks/collective_call.hpp
  double timed = 0;  ///< seconds of StageTimers that have ended within the innermost one that has not
};

// Not looked up by a call.
__attribute__((tls_model("initial-exec"))) inline constinit thread_local ThreadState thread_state;

}  // namespace forebay
