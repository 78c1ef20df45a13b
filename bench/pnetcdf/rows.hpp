// The benchmark's rows by name: what they are patterned on. The driver and the writer share this list.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace forebay::bench {

// How much a row writes. Tiny is for tests alone: too short to be timed.
enum class Size { Tiny, Quick, Normal, Full };

struct RowInfo {
  std::string_view name, title;
  bool quick;  // among those that --quick runs
};

std::span<const RowInfo> all_rows();

// Throws std::runtime_error where there is none of that name.
const RowInfo& find_row(std::string_view name);

// tiny, quick, normal, full; throws std::runtime_error.
Size parse_size(std::string_view name);
std::string_view size_name(Size size);

}  // namespace forebay::bench
