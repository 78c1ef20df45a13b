// A history file in PnetCDF's calls: its definitions, and one nonblocking put a variable.
#pragma once

#include <pnetcdf.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "history.hpp"
#include "varn_lists.hpp"

namespace forebay::bench {

// Dimensions, variables and attributes, in a file in define mode; the variables' ids. Throws
// std::runtime_error, as do the others.
std::vector<int> define_history(int file, const History& history);

// A partitioned variable's pieces; `lists` are aimed at the record.
void iput_pieces(int file, int id, const Variable& variable, const VarnLists& lists, const std::byte* values,
                 int* request);

// The whole of a variable, or of one of its records; `shape` is without the record dimension.
void iput_whole(int file, int id, const Variable& variable, const Shape& shape, std::int64_t record,
                const std::byte* values, int* request);

// The same, read back.
void iget_pieces(int file, int id, const Variable& variable, const VarnLists& lists, std::byte* values,
                 int* request);
void iget_whole(int file, int id, const Variable& variable, const Shape& shape, std::int64_t record,
                std::byte* values, int* request);

}  // namespace forebay::bench
