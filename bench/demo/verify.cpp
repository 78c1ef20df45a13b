// Every rank can work out what any element has to be.
#include "verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "classic_file.hpp"
#include "hdf5_reader.hpp"

namespace forebay::bench {
namespace {

// Counts the elements among [first, first + count) of one record that were written and do not hold their
// value; `values` are in native byte order.
void verify_values(const Written& written, const Variable& variable, std::int64_t record, std::int64_t first,
                   std::int64_t count, std::span<const std::byte> values, FileComparison& result) {
  const std::size_t size = size_of(variable.type);
  std::vector<std::byte> expected(static_cast<std::size_t>(count) * size);
  make_values(variable, record, first, count, expected.data());
  if (std::memcmp(expected.data(), values.data(), expected.size()) == 0) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::int64_t element = first + static_cast<std::int64_t>(i);
    if (written.holds(variable, element) &&
        std::memcmp(expected.data() + i * size, values.data() + i * size, size) != 0)
      result.differs(variable.record
                         ? fmt::format("{}, record {}, element {}", variable.name, record, element)
                         : fmt::format("{}, element {}", variable.name, element));
  }
}

void swap_elements(std::span<std::byte> values, std::size_t size) {
  if (size == 1) return;
  for (std::size_t at = 0; at < values.size(); at += size)
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(at),
                 values.begin() + static_cast<std::ptrdiff_t>(at + size));
}

}  // namespace

FileComparison verify_pnetcdf(const std::string& path, const Written& written) {
  const ClassicFile file(path);
  FileComparison result;
  if (file.records() != written.history.records)
    result.differs(fmt::format("{} records instead of {}", file.records(), written.history.records));
  std::vector<std::byte> values;
  for (const Variable& variable : written.history.variables) {
    const ClassicFile::Variable* stored = file.find_variable(variable.name);
    if (stored == nullptr) {
      result.differs(fmt::format("variable {} is missing", variable.name));
      continue;
    }
    const std::size_t size = size_of(variable.type);
    for (std::int64_t record = 0; record < (stored->record ? file.records() : 1); ++record) {
      for_each_part(stored->elements, [&](std::int64_t first, std::int64_t count) {
        values.resize(static_cast<std::size_t>(count) * size);
        file.read(*stored, record, first, values);
        swap_elements(values, size);
        verify_values(written, variable, record, first, count, values, result);
      });
    }
  }
  return result;
}

FileComparison verify_hdf5(const std::string& path, const Written& written) {
  const Hdf5Id file = open_hdf5(path);
  FileComparison result;
  std::vector<std::byte> values;
  for (const Variable& variable : written.history.variables) {
    if (H5Lexists(file, variable.name.c_str(), H5P_DEFAULT) <= 0) {
      result.differs(fmt::format("dataset {} is missing", variable.name));
      continue;
    }
    Hdf5Reader reader(file, variable.name);
    const std::int64_t elements = volume(written.history.shape(variable));
    const std::int64_t records = variable.record ? written.history.records : 1;
    if (volume(reader.shape()) != elements * records || reader.element_size() != size_of(variable.type)) {
      result.differs(fmt::format("the shape of dataset {}", variable.name));
      continue;
    }
    for (std::int64_t record = 0; record < records; ++record) {
      for_each_part(elements, [&](std::int64_t first, std::int64_t count) {
        reader.read(record * elements + first, count, values);
        verify_values(written, variable, record, first, count, values, result);
      });
    }
  }
  return result;
}

}  // namespace forebay::bench
