// The sink for data that leave by pieces through staging memory, as for an accelerator.
#pragma once

#include <cstdint>
#include <vector>

#include "request/mover.hpp"
#include "request/stream.hpp"

namespace forebay {

/// A slot gathers what follows each other in the stream, and goes when it is full or something else comes.
/// Any order of runs is right: elements that come in parts wait aside until they are whole. Ascending runs,
/// as regular selections have them, make full slots.
class StagedSink final : public Sink {
 public:
  StagedSink(Mover& mover, std::int64_t element_bytes, StagingMemory memory);

  /// After a failure nothing more is moved.
  void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) override;
  /// Moves what is left, and finishes all that was begun.
  void settle();
  bool failed() const { return failed_; }

 private:
  /// An element of which parts are missing.
  struct Part {
    std::int64_t element;
    std::int64_t missing;
    std::vector<std::byte> bytes;
    std::vector<bool> have;
  };

  void open(std::int64_t at);
  void hand_over();
  void move(std::int64_t first, std::int64_t bytes, std::int64_t place);
  void keep_part(std::int64_t begin, std::int64_t end, const std::byte* from);
  void finish(int slot);
  std::byte* slot_memory() const { return memory_.at + slot_ * memory_.slot_bytes; }

  Mover& mover_;
  std::int64_t element_;
  std::int64_t piece_bytes_;
  StagingMemory memory_;
  std::vector<bool> busy_;
  std::vector<Part> parts_;
  int slot_ = 0;
  // Of the slot that is being filled: where its memory begins in the stream, always an element; and what is
  // in it.
  std::int64_t base_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  bool failed_ = false;
};

}  // namespace forebay
