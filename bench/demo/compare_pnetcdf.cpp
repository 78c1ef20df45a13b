// Comparing classic netCDF files with plain reads.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "classic_file.hpp"
#include "compare.hpp"

namespace forebay::bench {
namespace {

constexpr std::int64_t chunk_bytes = 1 << 20;

void swap_elements(std::span<std::byte> values, std::size_t size) {
  if (size == 1) return;
  for (std::size_t at = 0; at < values.size(); at += size)
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(at),
                 values.begin() + static_cast<std::ptrdiff_t>(at + size));
}

// Calls visit(record, first, count) for a variable's elements, piece by piece, each small enough to hold.
template <typename Visit>
void for_each_chunk(const ClassicFile::Variable& variable, std::int64_t records, Visit&& visit) {
  const std::int64_t most = chunk_bytes / ClassicFile::type_size(variable.type);
  for (std::int64_t record = 0; record < (variable.record ? records : 1); ++record)
    for (std::int64_t first = 0; first < variable.elements; first += most)
      visit(record, first, std::min(most, variable.elements - first));
}

std::string place(const std::string& name, bool has_records, std::int64_t record, std::int64_t element) {
  return has_records ? fmt::format("{}, record {}, element {}", name, record, element)
                     : fmt::format("{}, element {}", name, element);
}

bool equal_bytes(const ClassicFile& a, const ClassicFile& b, std::int64_t begin, std::int64_t end) {
  std::vector<std::byte> left, right;
  for (; begin < end; begin += chunk_bytes) {
    left.resize(static_cast<std::size_t>(std::min(chunk_bytes, end - begin)));
    right.resize(left.size());
    a.read_raw(begin, left);
    b.read_raw(begin, right);
    if (left != right) return false;
  }
  return true;
}

const Variable* find_variable(const History& history, const std::string& name) {
  for (const Variable& variable : history.variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

}  // namespace

Comparison compare_pnetcdf(const std::string& reference, const std::string& path, const Written& written,
                           bool untouched_is_zero) {
  const ClassicFile left(reference);
  std::optional<ClassicFile> opened;
  Comparison result;
  try {
    opened.emplace(path);
  } catch (const std::runtime_error& damaged) {
    result.differs(1, fmt::format("the header: {}", damaged.what()));
    return result;
  }
  const ClassicFile& right = *opened;
  if (left.size() != right.size()) {
    result.differs(1, fmt::format("the size: {} and {} bytes", left.size(), right.size()));
    return result;
  }
  const bool equal = equal_bytes(left, right, 0, left.size());
  const bool complete = std::all_of(written.coverage.begin(), written.coverage.end(),
                                    [](const Coverage& one) { return one.missing() == 0; });
  if (equal && (complete || !untouched_is_zero)) return result;
  if (!equal_bytes(left, right, 0, left.data_begin())) {
    result.differs(1, "the header");
    return result;
  }
  std::vector<std::byte> a, b;
  for (const ClassicFile::Variable& stored : left.variables()) {
    const Variable* variable = find_variable(written.history, stored.name);
    if (variable == nullptr)
      throw std::runtime_error(fmt::format("{}: unknown variable {}", reference, stored.name));
    const auto size = static_cast<std::size_t>(ClassicFile::type_size(stored.type));
    for_each_chunk(stored, left.records(), [&](std::int64_t record, std::int64_t first, std::int64_t count) {
      a.resize(static_cast<std::size_t>(count) * size);
      b.resize(a.size());
      left.read(stored, record, first, a);
      right.read(stored, record, first, b);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const std::byte* mine = b.data() + i * size;
        const std::int64_t element = first + static_cast<std::int64_t>(i);
        if (written.holds(*variable, element)) {
          if (std::memcmp(a.data() + i * size, mine, size) != 0)
            result.differs(1, place(stored.name, stored.record, record, element));
        } else if (untouched_is_zero &&
                   std::any_of(mine, mine + size, [](std::byte c) { return c != std::byte{0}; })) {
          result.differs(1, place(stored.name, stored.record, record, element) + ", which nobody wrote");
        }
      }
    });
  }
  // Equal variables and header, and yet unequal bytes: what lies between and behind the variables.
  if (!equal && complete && result.same()) result.differs(1, "bytes between the variables");
  return result;
}

Comparison verify_pnetcdf(const std::string& path, const Written& written) {
  const ClassicFile file(path);
  Comparison result;
  if (file.records() != written.history.records)
    result.differs(1, fmt::format("{} records instead of {}", file.records(), written.history.records));
  std::vector<std::byte> values;
  for (const Variable& variable : written.history.variables) {
    const ClassicFile::Variable* stored = file.find_variable(variable.name);
    if (stored == nullptr) {
      result.differs(1, fmt::format("variable {} is missing", variable.name));
      continue;
    }
    const std::size_t size = size_of(variable.type);
    for_each_chunk(*stored, file.records(), [&](std::int64_t record, std::int64_t first, std::int64_t count) {
      values.resize(static_cast<std::size_t>(count) * size);
      file.read(*stored, record, first, values);
      swap_elements(values, size);
      verify_values(written, variable, record, first, count, values, result);
    });
  }
  return result;
}

void verify_values(const Written& written, const Variable& variable, std::int64_t record, std::int64_t first,
                   std::int64_t count, std::span<const std::byte> values, Comparison& result) {
  const std::size_t size = size_of(variable.type);
  std::vector<std::byte> expected(static_cast<std::size_t>(count) * size);
  make_values(variable, record, first, count, expected.data());
  if (std::memcmp(expected.data(), values.data(), expected.size()) == 0) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::int64_t element = first + static_cast<std::int64_t>(i);
    if (written.holds(variable, element) &&
        std::memcmp(expected.data() + i * size, values.data() + i * size, size) != 0)
      result.differs(1, place(variable.name, variable.record, record, element));
  }
}

}  // namespace forebay::bench
