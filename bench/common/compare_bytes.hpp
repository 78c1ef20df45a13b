// Two files byte for byte.
#pragma once

#include <string>

#include "subject.hpp"

namespace forebay::bench {

// A zero in the reference counts as a byte that nobody put: where values may have one, something else has to
// tell whether they are right. Throws std::runtime_error where one cannot be read.
FileComparison compare_bytes(const std::string& reference, const std::string& path);

}  // namespace forebay::bench
