// Types of elements in file and memory, and what of them is the same number in both.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace test {

enum class Number { i8, u8, i16, i32, u32, i64, f32, f64 };

struct ElementType {
  const char* name;
  hid_t (*id)();  ///< HDF5's own, not to be closed
  std::size_t size;
  int bits;  ///< integers of so many bits, and not negative, are exact in it
  Number number;
  bool big_endian = false;
};

std::span<const ElementType> file_types();
std::span<const ElementType> memory_types();

/// A value as an element of the type, which may be one for files as well.
void store(const ElementType& type, std::byte* at, std::int64_t value);
std::int64_t load(const ElementType& type, const std::byte* at);

}  // namespace test
