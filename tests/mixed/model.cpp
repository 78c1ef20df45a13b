#include "model.hpp"

#include <algorithm>

namespace mixed {

bool Box::dense() const {
  return std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s == 1; });
}

int64_t Box::size() const {
  int64_t n = 1;
  for (const int64_t c : count) n *= c;
  return n;
}

bool Box::empty() const {
  return size() == 0;
}

int64_t Array::elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

// Only the first dimension changes, so cells stay where they are.
void Array::set_extent(int64_t first) {
  shape[0] = first;
  Cell fresh;
  fresh.known = fills;
  fresh.value = unwritten;
  cells.resize(static_cast<std::size_t>(elements()), fresh);
}

std::vector<std::size_t> cells_of(const Array& array, const Box& box) {
  std::vector<std::size_t> cells;
  if (box.empty()) return cells;
  cells.reserve(static_cast<std::size_t>(box.size()));
  Indices at(box.count.size(), 0);
  for (;;) {
    int64_t cell = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      cell = cell * array.shape[d] + box.start[d] + at[d] * box.stride[d];
    cells.push_back(static_cast<std::size_t>(cell));
    std::size_t d = at.size();
    while (d > 0 && ++at[d - 1] == box.count[d - 1]) at[--d] = 0;
    if (d == 0) return cells;
  }
}

std::size_t Access::most_boxes() const {
  std::size_t most = 0;
  for (const auto& part : boxes) most = std::max(most, part.size());
  return most;
}

bool Access::all_dense() const {
  for (const auto& part : boxes) {
    if (!std::all_of(part.begin(), part.end(), [](const Box& box) { return box.dense(); })) return false;
  }
  return true;
}

Meeting needed(const Array& array, const Access& access, std::uint32_t epoch) {
  Meeting meeting = Meeting::none;
  for (std::size_t rank = 0; rank < access.boxes.size(); ++rank) {
    const std::uint32_t me = 1u << rank;
    for (const Box& box : access.boxes[rank]) {
      for (const std::size_t c : cells_of(array, box)) {
        const Cell& cell = array.cells[c];
        if (cell.epoch != epoch) continue;
        const bool written = cell.writer >= 0 && cell.writer != static_cast<int>(rank);
        if (!written && !(access.writing && (cell.readers & ~me) != 0)) continue;
        if (cell.alone || !access.together) return Meeting::full;
        meeting = Meeting::light;
      }
    }
  }
  return meeting;
}

void note(Array& array, const Access& access, std::uint32_t epoch) {
  for (std::size_t rank = 0; rank < access.boxes.size(); ++rank) {
    for (const Box& box : access.boxes[rank]) {
      for (const std::size_t c : cells_of(array, box)) {
        Cell& cell = array.cells[c];
        if (cell.epoch != epoch) {
          cell.epoch = epoch;
          cell.writer = -1;
          cell.readers = 0;
          cell.alone = false;
        }
        cell.alone = cell.alone || !access.together;
        if (access.writing) {
          cell.writer = static_cast<std::int8_t>(rank);
        } else {
          cell.readers |= 1u << rank;
        }
      }
    }
  }
}

void set_values(Array& array, const Access& access, std::uint64_t id) {
  for (const auto& part : access.boxes) {
    for (const Box& box : part) {
      for (const std::size_t c : cells_of(array, box)) {
        array.cells[c].value = value_of(id, c, array.bytes);
        array.cells[c].known = true;
      }
    }
  }
}

void note_light_meeting(Array& array, std::uint32_t epoch) {
  for (Cell& cell : array.cells) {
    if (cell.epoch == epoch && !cell.alone) cell.epoch = 0;
  }
}

int64_t value_of(std::uint64_t id, std::size_t cell, int bytes) {
  std::uint64_t z = id * 0x9E3779B97F4A7C15u + cell;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<int64_t>(z) >> (64 - 8 * bytes);
}

void encode(int64_t value, int bytes, bool big, std::byte* to) {
  for (int i = 0; i < bytes; ++i) {
    const auto low = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    to[big ? bytes - 1 - i : i] = low;
  }
}

int64_t decode(const std::byte* from, int bytes, bool big) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= std::to_integer<std::uint64_t>(from[big ? bytes - 1 - i : i]) << (8 * i);
  return static_cast<int64_t>(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

}  // namespace mixed
