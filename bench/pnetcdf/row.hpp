// One row of the benchmark as the program that writes: its definitions, and its puts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rows.hpp"

namespace forebay::bench {

struct Setting {
  int rank = 0, ranks = 1;
  Size size = Size::Normal;
  std::string f_map, g_map;  // recorded maps, or empty: a generated one
};

// All its buffers are filled beforehand, so that nothing but calls to PnetCDF is timed. What fails throws
// std::runtime_error.
class Row {
 public:
  virtual ~Row() = default;

  virtual void define(int file) = 0;  // in define mode
  virtual void put(int file) = 0;     // in data mode, all of it; collective

  // What this rank writes, and in how many contiguous parts of the file.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t pieces() const { return pieces_; }

 protected:
  void count(std::int64_t pieces, std::int64_t piece_bytes) {
    pieces_ += pieces;
    bytes_ += pieces * piece_bytes;
  }

 private:
  std::int64_t bytes_ = 0, pieces_ = 0;
};

std::unique_ptr<Row> make_row(std::string_view name, const Setting& setting);

// By file.
std::unique_ptr<Row> make_e3sm_row(const Setting& setting, bool ocean, int waits);
std::unique_ptr<Row> make_s3d_row(const Setting& setting);
std::unique_ptr<Row> make_btio_row(const Setting& setting);
std::unique_ptr<Row> make_wrf_row(const Setting& setting);
std::unique_ptr<Row> make_tiny_row(const Setting& setting, int piece_bytes);
std::unique_ptr<Row> make_small_row(const Setting& setting, bool blocking);

// One of four numbers, by size.
template <typename T>
T by_size(Size size, T tiny, T quick, T normal, T full) {
  const T values[] = {tiny, quick, normal, full};
  return values[static_cast<std::size_t>(size)];
}

// Values of which no byte is zero: a zero byte in a fresh file is one that nobody put.
void fill_values(std::span<std::byte> values, std::uint64_t seed);

// What a rank has of [0, length), of `parts` nearly equal parts.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t length() const { return end - begin; }
};
Range part_of(std::int64_t length, int part, int parts);

// `parts` as two or three factors, about equal, descending.
std::vector<int> factors(int parts, int dimensions);

}  // namespace forebay::bench
