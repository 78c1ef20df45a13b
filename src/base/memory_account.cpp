// Two sums and a count, of the process.
#include "base/memory_account.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/per_process.hpp"

namespace forebay {
namespace {

struct Account {
  std::atomic<std::int64_t> window_bytes{0};
  std::atomic<std::int64_t> kept_bytes{0};
  std::atomic<int> keepers{0};
};

Account& account() {
  return per_process<Account>();
}

}  // namespace

MemoryClaim::MemoryClaim(Kind kind, std::int64_t bytes) : kind_(kind) {
  if (kind_ == Kind::keeping) ++account().keepers;
  resize(bytes);
}

MemoryClaim::~MemoryClaim() {
  resize(0);
  if (kind_ == Kind::keeping) --account().keepers;
}

MemoryClaim::MemoryClaim(MemoryClaim&& other) noexcept {
  *this = std::move(other);
}

MemoryClaim& MemoryClaim::operator=(MemoryClaim&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MemoryClaim::resize(std::int64_t bytes) {
  (kind_ == Kind::keeping ? account().kept_bytes : account().window_bytes) +=
      bytes - std::exchange(bytes_, bytes);
}

std::int64_t pool_bound(const Settings& settings) {
  return settings.pool_bytes > 0 ? settings.pool_bytes : settings.memory_bytes / 4;
}

std::int64_t memory_left(const Settings& settings) {
  const std::int64_t beyond = std::max<std::int64_t>(0, pool_bound(settings) - settings.memory_bytes / 4);
  return std::max<std::int64_t>(
      0, settings.memory_bytes + beyond - account().window_bytes - account().kept_bytes);
}

std::int64_t memory_left_for_windows(const Settings& settings) {
  return std::max<std::int64_t>(
      0, std::min(settings.memory_bytes / 2 - account().window_bytes, memory_left(settings)));
}

std::int64_t share_of_next_file(const Settings& settings, std::int64_t least) {
  const std::int64_t left = memory_left(settings);
  const std::int64_t bound = pool_bound(settings);
  const int keepers = account().keepers;
  if (keepers == 0) return std::min(left, bound);
  // Half of the bound is left for the smallest shares.
  const std::int64_t share = (left - settings.memory_bytes / 2) / (keepers + 1);
  if (share >= least) return std::min(share, bound);
  return left >= least ? std::min(least, bound) : 0;
}

int keeping_files() {
  return account().keepers;
}

}  // namespace forebay
