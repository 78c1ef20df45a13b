// Sources that convert on the way to the file: from an array as it lies, or through an imap.
#pragma once

#include "convert/convert.hpp"
#include "convert/imap_walk.hpp"
#include "request/stream.hpp"

namespace forebay {

/// Elements that lie side by side in memory, in stream order. The stream is in the file's (big-endian) order.
class ConvertSource final : public Source {
 public:
  /// `memory` is not copied. For `fill` see Converter.
  ConvertSource(const void* memory, ExternalType external, MemoryType type, const void* fill,
                ConvertOptions options = {})
      : memory_(static_cast<const std::byte*>(memory)), converter_(external, type, fill, options) {}

  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
    range_error_ |= converter_.convert_runs(runs, memory_, destination, origin);
  }

  /// Whether any element produced so far was out of range.
  bool range_error() const { return range_error_; }

 private:
  const std::byte* memory_;
  Converter converter_;
  bool range_error_ = false;
};

/// Elements scattered over memory by an imap (see ImapWalk), in the row-major order of the box in the stream.
/// Converts like ConvertSource.
class GatherSource final : public Source {
 public:
  GatherSource(const void* memory, std::span<const std::int64_t> count, std::span<const std::int64_t> imap,
               ExternalType external, MemoryType type, const void* fill, ConvertOptions options = {})
      : memory_(static_cast<const std::byte*>(memory)),
        converter_(external, type, fill, options),
        walk_(count, imap, converter_.memory_size()) {}

  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override;
  bool range_error() const { return range_error_; }

 private:
  void gather(std::byte* to, std::int64_t elements);
  void produce_cut(const Run& run, std::byte* to);

  const std::byte* memory_;
  Converter converter_;
  ImapWalk walk_;
  bool range_error_ = false;
};

}  // namespace forebay
