#include "base/runtime.hpp"

#include <atomic>

namespace forebay {
namespace {

std::atomic<const Runtime*> the_runtime{nullptr};

}  // namespace

void set_runtime(const Runtime& runtime) noexcept {
  the_runtime.store(&runtime, std::memory_order_release);
}

bool runtime_works() noexcept {
  const Runtime* const runtime = the_runtime.load(std::memory_order_acquire);
  return runtime != nullptr && runtime->works();
}

void before_runtime_ends(void (*call)()) {
  if (runtime_works()) the_runtime.load(std::memory_order_acquire)->before_end(call);
}

}  // namespace forebay
