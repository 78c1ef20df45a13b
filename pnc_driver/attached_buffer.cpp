// A stack of slots over one block of memory.
#include "attached_buffer.hpp"

namespace forebay::pnc {

// Not zeroed: pages that no put reaches are never touched.
AttachedBuffer::AttachedBuffer(std::int64_t bytes)
    : memory_(new std::byte[static_cast<std::size_t>(bytes)]), size_(bytes) {}

int AttachedBuffer::take(std::int64_t bytes) {
  if (size_ - used_ < bytes) return -1;
  slots_.push_back({used_, bytes, true});
  used_ += bytes;
  return static_cast<int>(slots_.size()) - 1;
}

void AttachedBuffer::reclaim() {
  while (!slots_.empty() && !slots_.back().busy) {
    used_ -= slots_.back().bytes;
    slots_.pop_back();
  }
}

void AttachedBuffer::clear() {
  slots_.clear();
  used_ = 0;
}

}  // namespace forebay::pnc
