// The memory's end of what a request moves. A source produces the file bytes of a cursor's runs into memory,
// and a sink takes them out of it: copy, swap, convert, gather or scatter, once and in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "request/run.hpp"

namespace forebay {

class Source {
 public:
  virtual ~Source() = default;

  /// Writes the bytes of each run, in order, to destination + (run.file - origin). A run may begin or end
  /// inside an element.
  virtual void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) = 0;

  /// The memory that is the stream, byte for byte, if there is such a one (no swap, no conversion); else
  /// null.
  virtual const std::byte* direct() const { return nullptr; }
};

class Sink {
 public:
  virtual ~Sink() = default;

  /// Takes the bytes of each run, in order, from window + (run.file - origin). A run may begin or end inside
  /// an element; runs come in any order of the stream.
  virtual void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) = 0;

  /// As a source's.
  virtual std::byte* direct() const { return nullptr; }
};

}  // namespace forebay
