// A sink takes the file bytes of a cursor's runs out of memory: copy, swap, convert or scatter, once and in
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "request/run.hpp"

namespace forebay {

class Sink {
 public:
  virtual ~Sink() = default;

  /// Takes the bytes of each run, in order, from window + (run.file - origin). A run may begin or end inside
  /// an element; runs come in any order of the stream.
  virtual void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) = 0;

  /// The memory that is the stream, byte for byte, if there is such a one (no swap, no conversion); else
  /// null.
  virtual std::byte* direct() const { return nullptr; }
};

}  // namespace forebay
