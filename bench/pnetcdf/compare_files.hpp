// Two files of one row against each other. No value that a row puts has a zero byte, so that in a fresh file
// of the stock library, written exactly, a zero is a byte that nobody put.
#pragma once

#include <cstdint>
#include <string>

#include "subject.hpp"

namespace forebay::bench {

// A file that cannot be read differs. Throws std::runtime_error where the reference cannot be read.
FileComparison compare_files(const std::string& reference, const std::string& path);

// How many bytes behind the header of a classic file are not zero.
std::int64_t bytes_put(const std::string& path);

}  // namespace forebay::bench
