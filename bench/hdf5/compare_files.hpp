// Two HDF5 files of one row against each other. No value that a row puts has a zero byte, so that in a fresh
// file of the stock library, written exactly and without fill values, a zero is a byte that nobody put.
#pragma once

#include <cstdint>
#include <string>

#include "subject.hpp"

namespace forebay::bench {

// Names, types, shapes, attributes and values, dataset by dataset. Throws as the next.
FileComparison compare_hdf5_values(const std::string& reference, const std::string& path);

// Those; where they are the same, the rest byte by byte. A file that cannot be read
// differs. Throws std::runtime_error where the reference cannot be read.
FileComparison compare_hdf5_files(const std::string& reference, const std::string& path);

// How many bytes of the values of all datasets are not zero.
std::int64_t bytes_put_hdf5(const std::string& path);

}  // namespace forebay::bench
