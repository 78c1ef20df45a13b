// What an array of a file holds, element by element, as far as its library promises it, and which accesses
// need a meeting of the ranks in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mixed {

using std::int64_t;
using Indices = std::vector<int64_t>;

/// Elements `stride` apart, `count` of them from `start` on, in each dimension.
struct Box {
  Indices start, count, stride;
  bool dense() const;
  bool empty() const;
  int64_t size() const;
};

struct Cell {
  int64_t value = 0;
  bool known = false;  ///< written, or promised to be `value`; else stock libraries may leave anything there
  bool alone = false;  ///< since the last meeting, an independent call was at it
  std::int8_t writer = -1;
  std::uint32_t readers = 0;  ///< a bit a rank
  std::uint32_t epoch = 0;    ///< of the three above
};

struct Array {
  std::string name;
  int bytes = 4;          ///< of an element
  Indices shape;          ///< [0] grows where `grows`
  bool grows = false;     ///< a record variable, or an extendible dataset
  Indices chunk;          ///< HDF5; empty: contiguous
  bool big = false;       ///< raw files: big-endian
  int64_t offset = 0;     ///< raw files: of its first byte
  int64_t unwritten = 0;  ///< value of what nobody wrote, where `fills`
  bool fills = false;
  bool busy = false;  ///< requests are pending
  bool gone = false;  ///< deleted
  std::vector<Cell> cells;
  Indices places;  ///< of each cell in the file, where this process looked them up at the last close

  int64_t elements() const;
  void set_extent(int64_t first);
};

/// The cells of a box in row-major order.
std::vector<std::size_t> cells_of(const Array& array, const Box& box);
/// Cells that follow each other.
struct Piece {
  std::size_t cell = 0;
  int64_t length = 0;
};

/// One access by all ranks of a file's communicator, each with boxes of its own.
struct Access {
  bool writing = false;
  bool together = false;                ///< in one collective call
  std::vector<std::vector<Box>> boxes;  ///< of each rank
  std::size_t most_boxes() const;
  bool all_dense() const;
};

enum class Meeting { none, light, full };
/// Light: all that meets was in collective calls, so ranks only have to call one after the other.
Meeting needed(const Array& array, const Access& access, std::uint32_t epoch);
/// Notes who was where.
void note(Array& array, const Access& access, std::uint32_t epoch);
/// What is written is value_of(id, cell, bytes).
void set_values(Array& array, const Access& access, std::uint64_t id);
void note_light_meeting(Array& array, std::uint32_t epoch);

int64_t value_of(std::uint64_t id, std::size_t cell, int bytes);
/// An element as `bytes` bytes at `to`, and back.
void encode(int64_t value, int bytes, bool big, std::byte* to);
int64_t decode(const std::byte* from, int bytes, bool big);

}  // namespace mixed
