// Holds a history file against the values that were to be written. Memory stays bounded however large it is.
#pragma once

#include <span>
#include <string>

#include "decomposition.hpp"
#include "history.hpp"
#include "subject.hpp"

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

// Every element that was written. Throw std::runtime_error where the file cannot be read.
FileComparison verify_pnetcdf(const std::string& path, const Written& written);
FileComparison verify_hdf5(const std::string& path, const Written& written);

}  // namespace forebay::bench
