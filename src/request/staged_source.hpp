// The source for data that come by pieces through staging memory, as from an accelerator.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "request/mover.hpp"
#include "request/stream.hpp"

namespace forebay {

/// Pieces are aligned parts of the stream, of as many elements as a slot holds. When the first bytes of one
/// are wanted, the next ones are begun, so that they come while these move on. Any order of runs is right;
/// ascending ones, as regular selections have them, stage each piece once.
class StagedSource final : public Source {
 public:
  /// A piece that did not come: what the flush makes of missing memory, giving up this rank's part, is right
  /// here, too.
  struct Failed : std::bad_alloc {
    const char* what() const noexcept override { return "a piece could not be staged"; }
  };

  StagedSource(Mover& mover, std::int64_t element_bytes, std::int64_t stream_bytes, StagingMemory memory);

  /// Begins the first piece, if nobody has.
  void begin();
  /// Throws Failed where a piece could not be staged; such bytes are not touched.
  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override;
  /// Finishes all that was begun.
  void settle();
  bool failed() const { return failed_; }

 private:
  struct Slot {
    std::int64_t piece = -1;
    bool busy = false;
  };

  void enter(std::int64_t piece);
  void start(std::int64_t piece);
  void finish(std::size_t slot);

  Mover& mover_;
  std::int64_t piece_bytes_;
  std::int64_t stream_bytes_;
  StagingMemory memory_;
  std::vector<Slot> slots_;
  // The piece that is being read: its range of the stream, and where it lies.
  std::int64_t piece_ = -1;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  const std::byte* from_ = nullptr;
  bool failed_ = false;
};

}  // namespace forebay
