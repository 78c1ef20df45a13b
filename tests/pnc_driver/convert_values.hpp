// The numbers at which conversions change their mind, for every type.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay::test {

/// Calls f(std::type_identity<T>, n) for each number type, n being its number in ExternalType and in
/// MemoryType.
template <class F>
void for_each_number_type(F f) {
  f(std::type_identity<std::int8_t>{}, 1);
  f(std::type_identity<std::int16_t>{}, 3);
  f(std::type_identity<std::int32_t>{}, 4);
  f(std::type_identity<float>{}, 5);
  f(std::type_identity<double>{}, 6);
  f(std::type_identity<std::uint8_t>{}, 7);
  f(std::type_identity<std::uint16_t>{}, 8);
  f(std::type_identity<std::uint32_t>{}, 9);
  f(std::type_identity<std::int64_t>{}, 10);
  f(std::type_identity<std::uint64_t>{}, 11);
}

/// The limits of all types and their neighbours, as far as T holds them; of floating-point types also
/// fractions around them, NaN, infinities and the smallest numbers; and some of no distinction.
template <class T>
std::vector<T> boundary_values() {
  std::vector<T> values;
  const auto add_integer = [&](auto number) {
    if constexpr (std::is_integral_v<T>) {
      if (std::in_range<T>(number)) values.push_back(static_cast<T>(number));
    } else {
      values.push_back(static_cast<T>(number));
    }
  };
  for_each_number_type([&](auto tag, int) {
    using Other = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<Other>) {
      for (int step = 0; step < 3; ++step) {
        add_integer(static_cast<Other>(std::numeric_limits<Other>::min() + step));
        add_integer(static_cast<Other>(std::numeric_limits<Other>::max() - step));
        if constexpr (sizeof(Other) < 8) {
          add_integer(static_cast<std::int64_t>(std::numeric_limits<Other>::min()) - step);
          add_integer(static_cast<std::int64_t>(std::numeric_limits<Other>::max()) + step);
        }
      }
    }
    if constexpr (std::is_floating_point_v<T>) {
      for (const T limit : {static_cast<T>(std::numeric_limits<Other>::lowest()),
                            static_cast<T>(std::numeric_limits<Other>::max())}) {
        values.push_back(limit);
        values.push_back(std::nextafter(limit, T{0}));
        values.push_back(std::nextafter(limit, limit * 2));
        for (const double part : {0.25, 0.5, 0.75, 1.0}) {
          values.push_back(static_cast<T>(limit + part));
          values.push_back(static_cast<T>(limit - part));
        }
      }
    }
  });
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    for (const T number : {T{0}, Limits::min(), Limits::denorm_min(), Limits::infinity(), Limits::epsilon(),
                           T(0.5), T(0.999), T(1e10), T(1e20)}) {
      values.push_back(number);
      values.push_back(-number);
    }
    values.push_back(Limits::quiet_NaN());
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 40; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      values.push_back(static_cast<T>(
          std::ldexp(static_cast<double>(random()) - 9e18, static_cast<int>(random() % 40) - 60)));
    } else {
      values.push_back(static_cast<T>(random() >> random() % 64));
    }
  }
  return values;
}

}  // namespace forebay::test
