// A benchmark's rows by name: what they are patterned on, and how large they are. Its driver and its writer
// share one list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace forebay::bench {

// How much a row writes. Tiny is for tests alone: too short to be timed.
enum class Size { Tiny, Quick, Normal, Full };

struct RowInfo {
  std::string_view name, title;
  bool quick;          // among those that --quick runs
  bool alone = false;  // has a launch of its own, as a program that writes one file
  bool whole = false;  // timed from create, as from_create does
};

// Throws std::runtime_error where there is none of that name.
const RowInfo& find_row(std::span<const RowInfo> rows, std::string_view name);

// tiny, quick, normal, full; throws std::runtime_error.
Size parse_size(std::string_view name);
std::string_view size_name(Size size);

// One of four values, by size.
template <typename T>
T by_size(Size size, T tiny, T quick, T normal, T full) {
  const T values[] = {tiny, quick, normal, full};
  return values[static_cast<std::size_t>(size)];
}

}  // namespace forebay::bench
