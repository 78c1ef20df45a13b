// Boxes of arrays as selections.
#pragma once

#include <hdf5.h>

#include <memory>
#include <span>
#include <vector>

#include "hdf5_id.hpp"

namespace forebay::bench {

struct Box {
  std::vector<hsize_t> start, count;

  hsize_t elements() const {
    hsize_t product = 1;
    for (const hsize_t length : count) product *= length;
    return product;
  }
  // How many contiguous parts of an array of that shape it has.
  std::int64_t runs(std::span<const hsize_t> shape) const {
    if (elements() == 0) return 0;
    std::size_t d = shape.size();
    while (d > 0 && count[d - 1] == shape[d - 1]) --d;
    std::int64_t product = 1;
    for (std::size_t k = 0; k + 1 < d; ++k) product *= static_cast<std::int64_t>(count[k]);
    return product;
  }
};

// Nothing yet, of an array of that shape.
inline std::shared_ptr<Hdf5Id> select_nothing(std::span<const hsize_t> shape) {
  auto space = std::make_shared<Hdf5Id>(
      H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "H5Screate_simple");
  check_hdf5(H5Sselect_none(*space), "H5Sselect_none");
  return space;
}

// That box too; ascending boxes are joined fastest.
inline void select_also(hid_t space, const Box& box) {
  if (box.elements() == 0) return;
  const std::vector<hsize_t> once(box.count.size(), 1);
  check_hdf5(
      H5Sselect_hyperslab(space, H5S_SELECT_OR, box.start.data(), nullptr, once.data(), box.count.data()),
      "H5Sselect_hyperslab");
}

inline std::shared_ptr<Hdf5Id> select_box(std::span<const hsize_t> shape, const Box& box) {
  std::shared_ptr<Hdf5Id> space = select_nothing(shape);
  if (box.elements() > 0)
    check_hdf5(
        H5Sselect_hyperslab(*space, H5S_SELECT_SET, box.start.data(), nullptr, box.count.data(), nullptr),
        "H5Sselect_hyperslab");
  return space;
}

}  // namespace forebay::bench
