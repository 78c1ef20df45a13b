// Reads any HDF5 file dataset by dataset, a bounded part at a time, serially and through the stock driver.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "decomposition.hpp"
#include "hdf5_id.hpp"

namespace forebay::bench {

// For reading. What fails throws std::runtime_error, here as below.
Hdf5Id open_hdf5(const std::string& path);

// The names of what the root group holds, ascending.
std::vector<std::string> links_of(hid_t file);

// A dataset's raw values, run after run of its elements in row-major order.
class Hdf5Reader {
 public:
  Hdf5Reader(hid_t file, const std::string& name);

  hid_t dataset() const { return dataset_; }
  hid_t type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::size_t element_size() const { return H5Tget_size(type_); }

  // Elements [first, first + count) of the flattened array.
  void read(std::int64_t first, std::int64_t count, std::vector<std::byte>& values);

 private:
  Hdf5Id dataset_, type_, space_;
  Shape shape_;
};

// Calls visit(first, count) for parts of [0, elements) that fit in memory.
void for_each_part(std::int64_t elements, const std::function<void(std::int64_t, std::int64_t)>& visit);

}  // namespace forebay::bench
