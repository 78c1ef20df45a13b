// Apart from what waits, so that a program can bring a clock of its own.
#include "base/clock.hpp"

namespace forebay {

std::chrono::steady_clock::time_point now() noexcept {
  return std::chrono::steady_clock::now();
}

}  // namespace forebay
