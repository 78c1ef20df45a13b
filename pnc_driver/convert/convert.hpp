// Conversion of memory types to netCDF's external types, with netCDF's range rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "request/run.hpp"

namespace forebay {

/// A variable's type in the file. The numbers are those of the file format (and so of nc_type).
enum class ExternalType : int { i8 = 1, text, i16, i32, f32, f64, u8, u16, u32, i64, u64 };

/// An element's type in memory. C's `long` is memory_long.
enum class MemoryType : int { i8 = 1, text, i16, i32, f32, f64, u8, u16, u32, i64, u64 };
inline constexpr MemoryType memory_long = sizeof(long) == 8 ? MemoryType::i64 : MemoryType::i32;

std::int64_t element_size(ExternalType type);
std::int64_t element_size(MemoryType type);

/// Text goes with text only, numbers with numbers.
bool convertible(ExternalType external, MemoryType memory);

/// The value that netCDF stores where nothing was written, in the type's native form.
std::array<std::byte, 8> default_fill(ExternalType type);

struct ConvertOptions {
  bool big_endian = true;      ///< the file's order; else the machine's own
  bool classic_bytes = false;  ///< CDF-1 and CDF-2: unsigned char goes into NC_BYTE bit by bit, unchecked
};

/// How one pair of types is converted. Looked up once, used for any number of elements.
///
/// Range rules are netCDF's. An element is out of range when it is greater than the external type's greatest
/// value or less than its least, both rounded to double where the element is a floating-point number; the
/// infinities are out of range of any other floating-point type, not of their own; NaN is in range of
/// everything, integers included. `fill` is stored for an element out of range: a value of the external type
/// in native form; null stores what the machine's own conversion gives.
class Converter {
 public:
  /// The types must be convertible.
  Converter(ExternalType external, MemoryType memory, const void* fill, ConvertOptions options = {});

  std::int64_t external_size() const { return external_size_; }
  std::int64_t memory_size() const { return memory_size_; }

  // Each returns whether any element was out of range, whatever `fill` is.

  /// `count` elements that lie side by side.
  bool convert(const std::byte* in, std::byte* out, std::size_t count) const;

  /// `count` elements `stride` bytes apart in memory.
  bool convert_strided(const std::byte* in, std::ptrdiff_t stride, std::byte* out, std::size_t count) const;

  /// Runs of a stream of these elements, as Source::produce has them, from memory where the elements lie side
  /// by side. The file's order only.
  bool convert_runs(std::span<const Run> runs, const std::byte* memory, std::byte* destination,
                    std::int64_t origin) const;

  struct Kernel;  ///< the loops of one pair of types

 private:
  const std::byte* fill() const { return has_fill_ ? fill_.data() : nullptr; }
  bool finish(std::byte* out, std::size_t count, bool bad) const;

  const Kernel* kernel_;
  std::int64_t external_size_;
  std::int64_t memory_size_;
  std::array<std::byte, 8> fill_{};
  bool has_fill_;
  bool big_endian_;
};

/// One call for one array: true when any element was out of range.
bool convert(ExternalType external, MemoryType memory, const void* in, void* out, std::size_t count,
             const void* fill, ConvertOptions options = {});

}  // namespace forebay
