// What the datasets of a program hold, as far as HDF5 promises it, and which ranks have to meet before which
// access.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elements.hpp"

namespace test {

/// Counts the barriers; what happened before the last one needs no more care.
using Epoch = std::uint32_t;

struct Element {
  std::int64_t value = 0;
  bool known = false;  ///< written, or filled; else the file holds whatever was in the space before
  Epoch epoch = 0;     ///< of writer and readers
  std::int8_t writer = none;
  std::uint32_t readers = 0;  ///< a bit a rank

  static constexpr std::int8_t none = -1;
  static constexpr std::int8_t several = -2;
};

enum class Layout { contiguous, chunked, compact };

struct DatasetModel {
  std::vector<std::string> paths;  ///< hard links; none is left when it is deleted
  const ElementType* type = nullptr;
  Layout layout = Layout::contiguous;
  bool filtered = false;
  std::vector<hsize_t> dims;
  std::vector<hsize_t> most;  ///< H5S_UNLIMITED where it may grow for ever
  bool fills = false;         ///< what nobody wrote is `fill`
  std::int64_t fill = 0;
  std::vector<Element> elements;  ///< row-major

  hid_t open = H5I_INVALID_HID;
  std::vector<std::string> attributes;

  std::size_t rank() const { return dims.size(); }
  /// Collective transfers only, and no part of it may be touched by two ranks without a meeting.
  bool together() const { return filtered || layout == Layout::compact; }
  void set_extent(const std::vector<hsize_t>& wanted);
};

/// Whether an access by `rank` needs a barrier first.
bool conflicts(const DatasetModel& set, const std::vector<std::uint64_t>& at, int rank, bool writing,
               Epoch now);
void note_read(DatasetModel& set, const std::vector<std::uint64_t>& at, int rank, Epoch now);
void note_write(DatasetModel& set, const std::vector<std::uint64_t>& at, int rank, Epoch now);
/// As if every rank had read or written all of it.
bool touched(const DatasetModel& set, Epoch now);
void note_written_by_all(DatasetModel& set, Epoch now);

}  // namespace test
