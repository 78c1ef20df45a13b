// Filling slots, and elements that come in parts.
#include "request/staged_sink.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "request/byte_order.hpp"

namespace forebay {

StagedSink::StagedSink(Mover& mover, std::int64_t element_bytes, StagingMemory memory)
    : mover_(mover),
      element_(element_bytes),
      piece_bytes_(memory.slot_bytes / element_bytes * element_bytes),
      memory_(memory),
      busy_(static_cast<std::size_t>(memory.slots), false) {}

void StagedSink::finish(int slot) {
  const auto i = static_cast<std::size_t>(slot);
  if (!busy_[i]) return;
  busy_[i] = false;
  if (!mover_.finish(slot)) failed_ = true;
}

// The next slot is waited for before this one begins: one wait for all work of a queue, as fences are, then
// waits for what is older only.
void StagedSink::move(std::int64_t first, std::int64_t bytes, std::int64_t place) {
  const int next = (slot_ + 1) % memory_.slots;
  finish(next);
  if (!failed_) {
    busy_[static_cast<std::size_t>(slot_)] = true;
    if (!mover_.begin(slot_, first, bytes, slot_memory() + place)) {
      busy_[static_cast<std::size_t>(slot_)] = false;
      failed_ = true;
    }
  }
  if (next == slot_) finish(slot_);
  slot_ = next;
}

void StagedSink::open(std::int64_t at) {
  base_ = at / element_ * element_;
  begin_ = end_ = at;
}

void StagedSink::keep_part(std::int64_t begin, std::int64_t end, const std::byte* from) {
  if (begin >= end) return;
  const std::int64_t element = begin / element_;
  auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.element == element; });
  if (part == parts_.end()) {
    const auto size = static_cast<std::size_t>(element_);
    parts_.push_back({element, element_, std::vector<std::byte>(size), std::vector<bool>(size, false)});
    part = parts_.end() - 1;
  }
  for (std::int64_t i = begin - element * element_; i < end - element * element_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    part->bytes[at] = *from++;
    if (!part->have[at]) --part->missing;
    part->have[at] = true;
  }
}

void StagedSink::hand_over() {
  const std::int64_t begin = std::exchange(begin_, 0);
  const std::int64_t end = std::exchange(end_, 0);
  if (begin >= end) return;
  const std::int64_t first = (begin + element_ - 1) / element_ * element_;
  const std::int64_t last = end / element_ * element_;
  // Aside before the slot is given away.
  keep_part(begin, std::min(first, end), slot_memory() + (begin - base_));
  if (last >= first) keep_part(last, end, slot_memory() + (last - base_));
  if (first < last) move(first, last - first, first - base_);
  std::erase_if(parts_, [&](const Part& part) {
    if (part.missing > 0) return false;
    std::memcpy(slot_memory(), part.bytes.data(), part.bytes.size());
    move(part.element * element_, element_, 0);
    return true;
  });
}

void StagedSink::consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) {
  for (const Run& run : runs) {
    if (failed_) return;
    const std::byte* from = window + (run.file - origin);
    std::int64_t at = run.stream;
    for (std::int64_t left = run.length; left > 0;) {
      if (at != end_ || begin_ == end_ || end_ == base_ + piece_bytes_) {
        hand_over();
        if (failed_) return;
        open(at);
      }
      const std::int64_t length = std::min(left, base_ + piece_bytes_ - end_);
      copy_bytes(from, slot_memory() + (at - base_), static_cast<std::size_t>(length));
      from += length, at += length, left -= length;
      end_ = at;
    }
  }
}

void StagedSink::settle() {
  if (!failed_) hand_over();
  for (int slot = 0; slot < memory_.slots; ++slot) finish(slot);
}

}  // namespace forebay
