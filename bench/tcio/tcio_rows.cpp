// The list of rows.
#include "tcio_rows.hpp"

namespace forebay::bench {
namespace {

constexpr RowInfo rows[] = {
    {"size-1", "an int and a double of each rank in turn", true},
    {"size-4", "4 ints and 4 doubles of each rank in turn", true},
    {"size-64", "64 ints and 64 doubles of each rank in turn", true},
};

}  // namespace

std::span<const RowInfo> tcio_rows() {
  return rows;
}

}  // namespace forebay::bench
