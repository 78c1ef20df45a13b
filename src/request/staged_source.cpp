// Which piece lies in which slot.
#include "request/staged_source.hpp"

#include <algorithm>

#include "request/byte_order.hpp"

namespace forebay {

StagedSource::StagedSource(Mover& mover, std::int64_t element_bytes, std::int64_t stream_bytes,
                           StagingMemory memory)
    : mover_(mover),
      piece_bytes_(memory.slot_bytes / element_bytes * element_bytes),
      stream_bytes_(stream_bytes),
      memory_(memory),
      slots_(static_cast<std::size_t>(memory.slots)) {}

void StagedSource::finish(std::size_t slot) {
  if (!slots_[slot].busy) return;
  slots_[slot].busy = false;
  if (!mover_.finish(static_cast<int>(slot))) failed_ = true;
}

void StagedSource::start(std::int64_t piece) {
  const auto slot = static_cast<std::size_t>(piece) % slots_.size();
  finish(slot);
  if (failed_) return;
  const std::int64_t first = piece * piece_bytes_;
  std::byte* const to = memory_.at + static_cast<std::int64_t>(slot) * memory_.slot_bytes;
  slots_[slot] = {piece, true};
  if (!mover_.begin(static_cast<int>(slot), first, std::min(piece_bytes_, stream_bytes_ - first), to)) {
    slots_[slot] = {};
    failed_ = true;
  }
}

void StagedSource::begin() {
  if (stream_bytes_ > 0 && !failed_ && slots_[0].piece != 0) start(0);
}

void StagedSource::enter(std::int64_t piece) {
  const bool ascending = piece == piece_ + 1;
  const auto slot = static_cast<std::size_t>(piece) % slots_.size();
  piece_ = -1;
  begin_ = end_ = 0;
  if (!failed_ && slots_[slot].piece != piece) start(piece);
  finish(slot);
  if (failed_) throw Failed();
  piece_ = piece;
  begin_ = piece * piece_bytes_;
  end_ = std::min(begin_ + piece_bytes_, stream_bytes_);
  from_ = memory_.at + static_cast<std::int64_t>(slot) * memory_.slot_bytes;
  if (!ascending) return;
  // A failure here is told when that piece is wanted.
  const std::int64_t pieces = (stream_bytes_ + piece_bytes_ - 1) / piece_bytes_;
  const std::int64_t ahead = std::min(piece + static_cast<std::int64_t>(slots_.size()), pieces);
  for (std::int64_t next = piece + 1; next < ahead && !failed_; ++next) {
    if (slots_[static_cast<std::size_t>(next) % slots_.size()].piece != next) start(next);
  }
}

void StagedSource::produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) {
  for (const Run& run : runs) {
    std::byte* to = destination + (run.file - origin);
    std::int64_t at = run.stream;
    for (std::int64_t left = run.length; left > 0;) {
      if (at < begin_ || at >= end_) enter(at / piece_bytes_);
      const std::int64_t length = std::min(left, end_ - at);
      copy_bytes(from_ + (at - begin_), to, static_cast<std::size_t>(length));
      to += length, at += length, left -= length;
    }
  }
}

void StagedSource::settle() {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) finish(slot);
}

}  // namespace forebay
