// The plain walk over a cursor that needs no index for it.
#include "request/cursor.hpp"

#include <array>

namespace forebay {

void Cursor::walk(RunFunction f, void* context) {
  std::array<Run, 64> batch;
  start(4096);
  while (const std::size_t n = take(kNoOffset, batch)) {
    for (std::size_t i = 0; i < n; ++i) f(context, batch[i]);
  }
}

}  // namespace forebay
