// The source for data that lie in memory in stream order already: a copy, or a byte swap on the way.
#pragma once

#include "request/move_runs.hpp"
#include "request/source.hpp"

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

}  // namespace forebay
