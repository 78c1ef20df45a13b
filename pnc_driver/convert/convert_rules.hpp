// What both directions of conversion share: which elements C itself converts well, what the machine makes of
// others, and the tables of loops by pair of types. For the two files of loops only.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace forebay::conversion {

static_assert(std::endian::native == std::endian::little);

/// Of each pair of types some elements are `plain`: in range, and C says what their conversion is. The loops
/// convert those without a branch; the others are redone one by one.
template <class To, class From>
constexpr bool is_plain(From value) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_same_v<To, From> || (std::is_integral_v<From> && std::is_floating_point_v<To>)) {
    return true;
  } else if constexpr (std::is_integral_v<From>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    // The greatest 64-bit integers round to 2^63 and 2^64 and are not reached; NaN compares false.
    const auto number = static_cast<double>(value);
    const bool below = sizeof(To) == 8 ? number < static_cast<double>(Limits::max())
                                       : number <= static_cast<double>(Limits::max());
    return below & (number >= static_cast<double>(Limits::min()));
  } else {
    const auto number = static_cast<double>(value);
    return !((number > static_cast<double>(Limits::max())) |
             (number < static_cast<double>(Limits::lowest())));
  }
}

/// What is in range: plain elements, and from floating-point numbers to integers also NaN and the rounded
/// limit.
template <class To, class From>
bool is_in_range(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    const auto number = static_cast<double>(value);
    return !(number > static_cast<double>(Limits::max()) || number < static_cast<double>(Limits::min()));
  } else {
    return is_plain<To>(value);
  }
}

/// Conversion to an integer where C leaves it open: the stock library stores what the machine's instructions
/// give, so we say what that is.
template <class To>
To machine_integer(double value) {
#if defined(__x86_64__) || defined(__i386__)
  // There are signed conversions only; what does not fit gives the least integer. Less than 32 bits go by way
  // of 32, unsigned 32 by way of 64, and unsigned 64 in two halves.
  using Way =
      std::conditional_t<(sizeof(To) < 4 || std::is_same_v<To, std::int32_t>), std::int32_t, std::int64_t>;
  constexpr double limit = sizeof(Way) == 4 ? 2147483648.0 : 9223372036854775808.0;
  const auto convert = [](double number) {
    const double whole = std::trunc(number);
    return whole >= -limit && whole < limit ? static_cast<Way>(whole) : std::numeric_limits<Way>::min();
  };
  if (std::is_same_v<To, std::uint64_t> && value >= limit) {
    return static_cast<To>(static_cast<std::uint64_t>(convert(value - limit)) ^ (std::uint64_t{1} << 63));
  }
  return static_cast<To>(convert(value));
#else
  // Conversions saturate, and NaN gives zero. Less than 32 bits go by way of 32.
  using Way = std::conditional_t<(sizeof(To) < 4), std::int32_t, To>;
  if (std::isnan(value)) return 0;
  if (value >= static_cast<double>(std::numeric_limits<Way>::max()))
    return static_cast<To>(std::numeric_limits<Way>::max());
  if (value <= static_cast<double>(std::numeric_limits<Way>::min()))
    return static_cast<To>(std::numeric_limits<Way>::min());
  return static_cast<To>(static_cast<Way>(value));
#endif
}

/// The unsigned integer with a number's bits.
template <class Number>
using WordOf = std::tuple_element_t<std::countr_zero(sizeof(Number)),
                                    std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

/// The types by their numbers; 0 is none.
using Types = std::tuple<void, std::int8_t, std::uint8_t /* text */, std::int16_t, std::int32_t, float,
                         double, std::uint8_t, std::uint16_t, std::uint32_t, std::int64_t, std::uint64_t>;
inline constexpr std::size_t type_count = std::tuple_size_v<Types>;
template <std::size_t i>
using TypeOf = std::tuple_element_t<i, Types>;

/// table[external][memory] is the address of Of<external's type, memory's type>::kernel.
template <class Kernel, template <class, class> class Of>
constexpr auto kernel_table() {
  std::array<std::array<const Kernel*, type_count>, type_count> table{};
  const auto fill_row = [&]<std::size_t external, std::size_t... memory>(std::index_sequence<memory...>) {
    ((table[external][memory + 1] = &Of<TypeOf<external>, TypeOf<memory + 1>>::kernel), ...);
  };
  [&]<std::size_t... external>(std::index_sequence<external...>) {
    (fill_row.template operator()<external + 1>(std::make_index_sequence<type_count - 1>()), ...);
  }(std::make_index_sequence<type_count - 1>());
  return table;
}

}  // namespace forebay::conversion
