// Holds the files of two runs against each other, and one of them against the values that were to be written.
// Memory stays bounded however large the files are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "decomposition.hpp"
#include "history.hpp"

namespace forebay::bench {

// What was written, to tell elements that nobody wrote from lost ones.
struct Written {
  const History& history;
  std::span<const Coverage> coverage;  // by decomposition

  bool holds(const Variable& variable, std::int64_t element) const {
    return variable.decomposition < 0 ||
           coverage[static_cast<std::size_t>(variable.decomposition)].holds(element);
  }
};

struct Comparison {
  std::int64_t differences = 0;
  std::string first;  // what differs first, in words

  bool same() const { return differences == 0; }
  void differs(std::int64_t count, const std::string& what) {
    if (differences == 0) first = what;
    differences += count;
  }
};

// Byte for byte, but for elements that nobody wrote: there the stock library leaves what its buffers held
// before. Where `untouched_is_zero`, such elements of `path` have to be zero, as a fresh file's are.
Comparison compare_pnetcdf(const std::string& reference, const std::string& path, const Written& written,
                           bool untouched_is_zero);

// Every dataset and attribute: names, types, shapes, values.
Comparison compare_hdf5(const std::string& reference, const std::string& path);

// Every element that was written against the value it was to have.
Comparison verify_pnetcdf(const std::string& path, const Written& written);
Comparison verify_hdf5(const std::string& path, const Written& written);

// For those two: counts the elements among [first, first + count) of one record that were written and do not
// hold their value; `values` are in native byte order.
void verify_values(const Written& written, const Variable& variable, std::int64_t record, std::int64_t first,
                   std::int64_t count, std::span<const std::byte> values, Comparison& result);

}  // namespace forebay::bench
