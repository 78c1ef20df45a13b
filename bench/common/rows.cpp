// Rows and sizes by name.
#include "rows.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace forebay::bench {
namespace {

constexpr std::string_view sizes[] = {"tiny", "quick", "normal", "full"};

}  // namespace

const RowInfo& find_row(std::span<const RowInfo> rows, std::string_view name) {
  for (const RowInfo& row : rows)
    if (row.name == name) return row;
  throw std::runtime_error(fmt::format("there is no row {}", name));
}

Size parse_size(std::string_view name) {
  for (std::size_t i = 0; i < std::size(sizes); ++i)
    if (sizes[i] == name) return static_cast<Size>(i);
  throw std::runtime_error(fmt::format("there is no size {}", name));
}

std::string_view size_name(Size size) {
  return sizes[static_cast<std::size_t>(size)];
}

}  // namespace forebay::bench
