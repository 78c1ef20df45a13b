#include "stage/fetch_ahead.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace forebay {
namespace {

constexpr std::int64_t kAtOnce = 1 << 20;  // before it looks whether it is to stop

}  // namespace

FetchAhead::FetchAhead(std::unique_ptr<NodeStage> stage, Descriptor file, std::int64_t most)
    : stage_(std::move(stage)),
      descriptor_(std::move(file)),
      file_(make_posix_storage(descriptor_.number(), stage_->identity().path)),
      most_(most) {}

void FetchAhead::stop() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FetchAhead::want(std::span<const Extent> ranges) {
  {
    const std::lock_guard lock(mutex_);
    for (const Extent& each : ranges) {
      if (each.empty()) continue;
      waiting_.push_back({each.begin, std::min(each.end, each.begin + most_)});
      bytes_ += waiting_.back().size();
    }
    for (; bytes_ > most_; waiting_.pop_front()) bytes_ -= waiting_.front().size();
    if (waiting_.empty()) return;
  }
  changed_.notify_all();
  if (thread_.joinable()) return;
  // Signals are the program's own threads'.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    bytes_ = 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void FetchAhead::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    works_ = false;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stops_ || !waiting_.empty(); });
    if (stops_) return;
    works_ = true;
    Extent range = waiting_.front();
    waiting_.pop_front();
    bytes_ -= range.size();
    while (!range.empty() && !stops_) {
      StageTally moved;
      lock.unlock();
      try {
        range.begin = stage_->fetch(range.begin, range.end, kAtOnce, *file_, moved);
      } catch (const std::bad_alloc&) {
        range = {};
      }
      lock.lock();
      tally_.fetches += moved.fetches;
      tally_.fetched_bytes += moved.fetched_bytes;
    }
  }
}

void FetchAhead::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !works_; });
}

StageTally FetchAhead::tally() {
  const std::lock_guard lock(mutex_);
  return tally_;
}

}  // namespace forebay
