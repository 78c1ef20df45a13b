// The time that passes while ranks work and wait.
#pragma once

#include <chrono>

namespace forebay {

/// The steady clock of this machine; of the simulated one, where that runs the ranks.
std::chrono::steady_clock::time_point now() noexcept;

}  // namespace forebay
