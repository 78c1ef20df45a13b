// What the three ways share.
#include "arrays_row.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <stdexcept>

namespace forebay::bench {

ArraysRow::ArraysRow(const Setting& setting, int size, std::int64_t length)
    : setting_(setting),
      length_(length > 0 ? length : by_size<std::int64_t>(setting.size, 256, 64 << 10, 1 << 20, 4 << 20)),
      size_(size),
      ints_(static_cast<std::size_t>(length_)),
      got_ints_(ints_.size()),
      doubles_(static_cast<std::size_t>(length_)),
      got_doubles_(doubles_.size()) {
  fill_values(std::as_writable_bytes(std::span(ints_)), static_cast<std::uint64_t>(setting.rank) * 2 + 1);
  fill_values(std::as_writable_bytes(std::span(doubles_)), static_cast<std::uint64_t>(setting.rank) * 2 + 2);
  count(blocks(), int_bytes());
  count(blocks(), double_bytes());
}

bool ArraysRow::same() const {
  return got_ints_ == ints_ && got_doubles_ == doubles_;
}

ArraysWay parse_arrays_way(const std::string& name) {
  if (name == "views") return ArraysWay::Views;
  if (name == "alone") return ArraysWay::Alone;
  if (name == "tcio") return ArraysWay::Tcio;
  throw std::runtime_error("there is no way " + name);
}

std::unique_ptr<Row> make_arrays_row(const std::string& name, const Setting& setting, ArraysWay way,
                                     std::int64_t length) {
  for (const int size : {1, 4, 64}) {
    if (name != fmt::format("size-{}", size)) continue;
    switch (way) {
      case ArraysWay::Views:
        return make_views_row(setting, size, length);
      case ArraysWay::Alone:
        return make_alone_row(setting, size, length);
      case ArraysWay::Tcio:
        return make_tcio_row(setting, size, length);
    }
  }
  throw std::runtime_error("there is no row " + name);
}

void check_mpi(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(error, text.data(), &length);
  throw std::runtime_error(fmt::format("{}: {}", call, text.data()));
}

}  // namespace forebay::bench
