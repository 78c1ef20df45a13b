// Sources that convert on the way to the file: from an array as it lies, or through an imap.
#pragma once

#include <vector>

#include "request/convert.hpp"
#include "request/source.hpp"

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

/// Elements scattered over memory by an imap, as netCDF's varm has them: element (i0, i1, …) of a box of
/// `count`, in row-major order in the stream, lies sum(i * imap) elements from the beginning of memory.
/// Converts like ConvertSource.
class GatherSource final : public Source {
 public:
  GatherSource(const void* memory, std::span<const std::int64_t> count, std::span<const std::int64_t> imap,
               ExternalType external, MemoryType type, const void* fill, ConvertOptions options = {});

  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override;
  bool range_error() const { return range_error_; }

 private:
  struct Dim {
    std::int64_t count;
    std::int64_t stride;  // bytes of memory
    std::int64_t index;
  };
  void seek(std::int64_t element);
  void gather(std::byte* to, std::int64_t elements);
  void produce_cut(const Run& run, std::byte* to);

  const std::byte* memory_;
  Converter converter_;
  std::vector<Dim> dims_;     // slowest first, merged; at least one
  std::int64_t element_ = 0;  // where dims_ and at_ stand
  const std::byte* at_;
  bool range_error_ = false;
};

}  // namespace forebay
