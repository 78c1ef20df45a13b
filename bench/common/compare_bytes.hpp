// Two files byte for byte.
#pragma once

#include <string>

#include "subject.hpp"

namespace forebay::bench {

// Throws std::runtime_error where one cannot be read.
FileComparison compare_bytes(const std::string& reference, const std::string& path);

}  // namespace forebay::bench
