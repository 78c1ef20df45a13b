// Sinks that convert on the way from the file: to an array as it lies, or through an imap.
#pragma once

#include "convert/get_converter.hpp"
#include "convert/imap_walk.hpp"
#include "request/stream.hpp"

namespace forebay {

/// Elements that lie side by side in memory, in stream order. The stream is in the file's (big-endian) order.
class ConvertSink final : public Sink {
 public:
  /// For `fill` see GetConverter.
  ConvertSink(void* memory, ExternalType external, MemoryType type, const void* fill,
              ConvertOptions options = {})
      : memory_(static_cast<std::byte*>(memory)),
        converter_(external, type, fill, options),
        cut_(converter_.external_size()) {}

  void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) override {
    range_error_ |= converter_.convert_runs(runs, window, origin, memory_, cut_);
  }

  /// Whether any element consumed so far was out of range.
  bool range_error() const { return range_error_; }

 private:
  std::byte* memory_;
  GetConverter converter_;
  CutElements cut_;
  bool range_error_ = false;
};

/// Scatters the elements of a box over memory by an imap (see ImapWalk); they come in row-major order in the
/// stream. Converts like ConvertSink.
class ScatterSink final : public Sink {
 public:
  ScatterSink(void* memory, std::span<const std::int64_t> count, std::span<const std::int64_t> imap,
              ExternalType external, MemoryType type, const void* fill, ConvertOptions options = {})
      : memory_(static_cast<std::byte*>(memory)),
        converter_(external, type, fill, options),
        cut_(converter_.external_size()),
        walk_(count, imap, converter_.memory_size()) {}

  void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) override;
  bool range_error() const { return range_error_; }

 private:
  void scatter(std::int64_t element, const std::byte* from, std::int64_t elements);

  std::byte* memory_;
  GetConverter converter_;
  CutElements cut_;
  ImapWalk walk_;
  bool range_error_ = false;
};

}  // namespace forebay
