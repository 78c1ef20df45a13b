// Arrays cut into boxes: what the block patterns share.
#pragma once

#include <pnetcdf.h>

#include <array>
#include <string>
#include <vector>

#include "pnetcdf_row.hpp"

namespace forebay::bench {

// A box of an array, its record dimension first.
struct Box {
  std::vector<MPI_Offset> start, count;

  std::int64_t elements() const {
    std::int64_t product = 1;
    for (const MPI_Offset length : count) product *= length;
    return product;
  }
  // How many contiguous parts of an array of that shape it has; the shape without the record dimension.
  std::int64_t runs(std::span<const std::int64_t> shape) const {
    std::size_t d = shape.size();
    while (d > 0 && count[d] == shape[d - 1]) --d;
    std::int64_t product = 1;
    for (std::size_t k = 1; k < d; ++k) product *= count[k];
    return elements() == 0 ? 0 : product;
  }
};

// Dimensions of these names and lengths, in a file in define mode; their ids.
inline std::vector<int> define_dimensions(int file,
                                          std::initializer_list<std::pair<const char*, std::int64_t>> all) {
  std::vector<int> ids;
  for (const auto& [name, length] : all)
    check(ncmpi_def_dim(file, name, length, &ids.emplace_back(-1)), "ncmpi_def_dim");
  return ids;
}

inline int define_variable(int file, const std::string& name, nc_type type, const std::vector<int>& over) {
  int id = -1;
  check(ncmpi_def_var(file, name.c_str(), type, static_cast<int>(over.size()), over.data(), &id),
        "ncmpi_def_var");
  return id;
}

// Post a box of doubles.
inline void iput_vara(int file, int id, const Box& box, double* values, std::vector<int>& requests) {
  check(ncmpi_iput_vara_double(file, id, box.start.data(), box.count.data(), values,
                               &requests.emplace_back(NC_REQ_NULL)),
        "ncmpi_iput_vara_double");
}
inline void iget_vara(int file, int id, const Box& box, double* values, std::vector<int>& requests) {
  check(ncmpi_iget_vara_double(file, id, box.start.data(), box.count.data(), values,
                               &requests.emplace_back(NC_REQ_NULL)),
        "ncmpi_iget_vara_double");
}

// Waits for all of them, collectively.
inline void wait_all(int file, std::vector<int>& requests) {
  std::vector<int> statuses(requests.size(), NC_NOERR);
  check(ncmpi_wait_all(file, static_cast<int>(requests.size()), requests.data(), statuses.data()),
        "ncmpi_wait_all");
  for (const int status : statuses) check(status, "ncmpi_wait_all, a request");
  requests.clear();
}

}  // namespace forebay::bench
