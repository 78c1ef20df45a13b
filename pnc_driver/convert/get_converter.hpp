// Conversion of netCDF's external types to memory types, with netCDF's range rules: the way back from
// request/convert.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "convert/convert.hpp"
#include "convert/cut_elements.hpp"
#include "request/run.hpp"

namespace forebay {

/// The value that PnetCDF stores in memory where an element of the file is out of range: netCDF's default
/// fill value of the memory type. PnetCDF takes that of int for C's `long`, whatever its size: `is_long`.
std::array<std::byte, 8> default_fill(MemoryType type, bool is_long = false);

/// How elements of the file's (big-endian) order become one memory type.
///
/// Range rules are those of PnetCDF's get functions. An element is out of range when it is greater than the
/// memory type's greatest value or less than its least, both rounded to double where the element is a
/// floating-point number. float is in range of double, infinities included; of a double in a float the
/// infinities are not. A floating-point number that is the greatest 64-bit integer rounded up gives that
/// integer. NaN is in range of everything.
class GetConverter {
 public:
  /// The types must be convertible. `fill`: a value of the memory type, stored for what is out of range.
  GetConverter(ExternalType external, MemoryType memory, const void* fill, ConvertOptions options = {});

  std::int64_t external_size() const { return external_size_; }
  std::int64_t memory_size() const { return memory_size_; }

  // Each returns whether any element was out of range.

  /// `count` elements that lie side by side.
  bool convert(const std::byte* in, std::byte* out, std::size_t count) const;

  /// `count` elements `stride` bytes apart in memory.
  bool convert_strided(const std::byte* in, std::byte* out, std::ptrdiff_t stride, std::size_t count) const;

  /// Runs of a stream of these elements, as Sink::consume has them, to memory where the elements lie side by
  /// side. What comes in parts waits in `cut`.
  bool convert_runs(std::span<const Run> runs, const std::byte* window, std::int64_t origin,
                    std::byte* memory, CutElements& cut) const;

  struct Kernel;  ///< the loops of one pair of types

 private:
  const Kernel* kernel_;
  std::int64_t external_size_;
  std::int64_t memory_size_;
  std::array<std::byte, 8> fill_{};
};

}  // namespace forebay
