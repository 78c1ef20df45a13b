// One row of a benchmark as the program that writes: its file, and what its buffers are filled with.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rows.hpp"

namespace forebay::bench {

struct Setting {
  int rank = 0, ranks = 1;
  Size size = Size::Normal;
  // For rows that write in steps (records, frames): how many, where not as the size says; and what the
  // program does before each of them, on all ranks.
  int steps = 0;
  std::function<void()> before_step = nullptr;

  int steps_or(int usual) const { return steps > 0 ? steps : usual; }
};

// All its buffers are filled when it is made, so that nothing but calls to the library is timed. The calls
// are collective, in this order; what fails throws std::runtime_error.
class Row {
 public:
  virtual ~Row() = default;

  virtual void create(const std::string& path, MPI_Info info) = 0;  // a fresh file, and all definitions
  virtual void write() = 0;                                         // all of its data
  virtual void close() = 0;

  // For rows that are read back instead: an existing file, written by this row on as many ranks; all of its
  // data, into memory of the row's own; and whether that is what was written.
  virtual void open(const std::string& path, MPI_Info info);
  virtual void read();
  virtual bool same() const;

  // What the row has measured of itself: seconds by names of its own, the same on all ranks. After close.
  virtual std::map<std::string, double> measured() const { return {}; }

  // What this rank writes, and in how many contiguous parts of the file.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t pieces() const { return pieces_; }

 protected:
  void count(std::int64_t pieces, std::int64_t piece_bytes) { tally(pieces, pieces * piece_bytes); }
  void tally(std::int64_t pieces, std::int64_t bytes) {
    pieces_ += pieces;
    bytes_ += bytes;
  }

 private:
  std::int64_t bytes_ = 0, pieces_ = 0;
};

// That row as a program: what is timed as its data begins with its creation.
std::unique_ptr<Row> from_create(std::unique_ptr<Row> row);

// Values of which no byte is zero: a zero byte in a fresh file is one that nobody put.
void fill_values(std::span<std::byte> values, std::uint64_t seed);

// Memory to read into, of which no byte is right before it is read, and whether `bytes` of it are afterwards:
// the rest is padding.
std::vector<std::byte> unread(std::span<const std::byte> values);
bool all_read(std::span<const std::byte> values, std::span<const std::byte> got, std::int64_t bytes);

// What a rank has of [0, length), of `parts` nearly equal parts.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t length() const { return end - begin; }
};
Range part_of(std::int64_t length, int part, int parts);

// `parts` as two or three factors, about equal, descending.
std::vector<int> factors(int parts, int dimensions);

}  // namespace forebay::bench
