// The source and the sink for data that lie, or belong, in memory in stream order: a copy, or a byte swap on
// the way.
#pragma once

#include "request/move_runs.hpp"
#include "request/stream.hpp"

namespace forebay {

class MemorySource final : public Source {
 public:
  /// `memory` holds the stream from its first byte on; it is not copied.
  explicit MemorySource(const void* memory, Swap swap = Swap::none)
      : memory_(static_cast<const std::byte*>(memory)), swap_(swap) {}

  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
    scatter_runs(runs, swap_, memory_, destination, origin);
  }
  const std::byte* direct() const override { return swap_ == Swap::none ? memory_ : nullptr; }

 private:
  const std::byte* memory_;
  Swap swap_;
};

class MemorySink final : public Sink {
 public:
  /// `memory` takes the stream from its first byte on.
  explicit MemorySink(void* memory, Swap swap = Swap::none)
      : memory_(static_cast<std::byte*>(memory)), swap_(swap) {}

  void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) override {
    pick_runs(runs, swap_, window, origin, memory_);
  }
  std::byte* direct() const override { return swap_ == Swap::none ? memory_ : nullptr; }

 private:
  std::byte* memory_;
  Swap swap_;
};

}  // namespace forebay
