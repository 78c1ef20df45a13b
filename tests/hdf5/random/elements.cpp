#include "elements.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace test {
namespace {

// 31 bits where more would do, so that numbers are exact in doubles as well.
constexpr std::array file_table{
    ElementType{"I8LE", [] { return H5T_STD_I8LE; }, 1, 7, Number::i8},
    ElementType{"U8BE", [] { return H5T_STD_U8BE; }, 1, 8, Number::u8, true},
    ElementType{"I16LE", [] { return H5T_STD_I16LE; }, 2, 15, Number::i16},
    ElementType{"I16BE", [] { return H5T_STD_I16BE; }, 2, 15, Number::i16, true},
    ElementType{"I32LE", [] { return H5T_STD_I32LE; }, 4, 31, Number::i32},
    ElementType{"I32BE", [] { return H5T_STD_I32BE; }, 4, 31, Number::i32, true},
    ElementType{"I64LE", [] { return H5T_STD_I64LE; }, 8, 31, Number::i64},
    ElementType{"I64BE", [] { return H5T_STD_I64BE; }, 8, 31, Number::i64, true},
    ElementType{"F32LE", [] { return H5T_IEEE_F32LE; }, 4, 24, Number::f32},
    ElementType{"F32BE", [] { return H5T_IEEE_F32BE; }, 4, 24, Number::f32, true},
    ElementType{"F64LE", [] { return H5T_IEEE_F64LE; }, 8, 31, Number::f64},
    ElementType{"F64BE", [] { return H5T_IEEE_F64BE; }, 8, 31, Number::f64, true},
};

constexpr std::array memory_table{
    ElementType{"schar", [] { return H5T_NATIVE_SCHAR; }, sizeof(signed char), 7, Number::i8},
    ElementType{"uchar", [] { return H5T_NATIVE_UCHAR; }, sizeof(unsigned char), 8, Number::u8},
    ElementType{"short", [] { return H5T_NATIVE_SHORT; }, sizeof(short), 15, Number::i16},
    ElementType{"int", [] { return H5T_NATIVE_INT; }, sizeof(int), 31, Number::i32},
    ElementType{"uint", [] { return H5T_NATIVE_UINT; }, sizeof(unsigned), 31, Number::u32},
    ElementType{"llong", [] { return H5T_NATIVE_LLONG; }, sizeof(long long), 31, Number::i64},
    ElementType{"float", [] { return H5T_NATIVE_FLOAT; }, sizeof(float), 24, Number::f32},
    ElementType{"double", [] { return H5T_NATIVE_DOUBLE; }, sizeof(double), 31, Number::f64},
};

/// Calls with_type(a value of the memory type).
template <class WithType>
void as_number(Number number, WithType&& with_type) {
  switch (number) {
    case Number::i8:
      return with_type(static_cast<signed char>(0));
    case Number::u8:
      return with_type(static_cast<unsigned char>(0));
    case Number::i16:
      return with_type(short{0});
    case Number::i32:
      return with_type(0);
    case Number::u32:
      return with_type(0u);
    case Number::i64:
      return with_type(0ll);
    case Number::f32:
      return with_type(0.0f);
    case Number::f64:
      return with_type(0.0);
  }
}

}  // namespace

std::span<const ElementType> file_types() {
  return file_table;
}

std::span<const ElementType> memory_types() {
  return memory_table;
}

namespace {

void swap_if(bool big_endian, std::byte* at, std::size_t size) {
  if (big_endian) std::reverse(at, at + size);
}

}  // namespace

void store(const ElementType& type, std::byte* at, std::int64_t value) {
  as_number(type.number, [&](auto number) {
    number = static_cast<decltype(number)>(value);
    std::memcpy(at, &number, sizeof number);
    swap_if(type.big_endian, at, sizeof number);
  });
}

std::int64_t load(const ElementType& type, const std::byte* at) {
  std::int64_t value = 0;
  as_number(type.number, [&](auto number) {
    std::array<std::byte, sizeof number> bytes;
    std::memcpy(bytes.data(), at, sizeof number);
    swap_if(type.big_endian, bytes.data(), sizeof number);
    std::memcpy(&number, bytes.data(), sizeof number);
    value = static_cast<std::int64_t>(number);
  });
  return value;
}

}  // namespace test
