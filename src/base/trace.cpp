// A ring that grows by chunks out of a budget of the process.
#include "base/trace.hpp"

#include <atomic>
#include <chrono>
#include <new>

#include "base/clock.hpp"

namespace forebay {
namespace {

std::atomic<std::size_t> taken{0};  // events, by all rings of the process

std::uint16_t number_of_thread() noexcept {
  static std::atomic<std::uint16_t> next{0};
  thread_local const std::uint16_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace

Trace::~Trace() {
  taken.fetch_sub(room_, std::memory_order_relaxed);
}

std::int64_t Trace::now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(forebay::now().time_since_epoch()).count();
}

bool Trace::grow() noexcept {
  if (taken.fetch_add(chunk, std::memory_order_relaxed) + chunk <= most) {
    try {
      events_.reserve(room_ + chunk);
      room_ += chunk;
      return true;
    } catch (const std::bad_alloc&) {
    }
  }
  taken.fetch_sub(chunk, std::memory_order_relaxed);
  return false;
}

void Trace::add(Span span, std::int64_t begin, std::int64_t end, std::int64_t count,
                std::int64_t bytes) noexcept {
  const TraceEvent event{begin, end - begin, count, bytes, span, number_of_thread()};
  const std::lock_guard<std::mutex> lock(mutex_);
  // Once a place was reused, the order is the ring's.
  if (first_ == 0 && dropped_ == 0 && (events_.size() < room_ || grow())) {
    events_.push_back(event);
    return;
  }
  ++dropped_;
  if (events_.empty()) return;
  events_[first_] = event;
  first_ = (first_ + 1) % events_.size();
}

}  // namespace forebay
