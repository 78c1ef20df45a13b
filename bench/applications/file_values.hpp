// How much of a file is what its row wrote.
#pragma once

#include <cstdint>
#include <string>

namespace forebay::bench {

// How many bytes of the values of an HDF5 file's datasets, in whatever group, or of a classic file's
// variables are not zero. Throws std::runtime_error where it cannot be read.
std::int64_t bytes_of_values(const std::string& path);

}  // namespace forebay::bench
