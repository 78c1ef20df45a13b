// Comparing HDF5 files: objects by name, values slab by slab.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "compare.hpp"
#include "hdf5_reader.hpp"

namespace forebay::bench {
namespace {

std::vector<std::string> attributes(hid_t object) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* into) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return herr_t{0};
  };
  check_hdf5(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "H5Aiterate2");
  return names;
}

std::vector<std::byte> attribute_value(hid_t object, const std::string& name, std::size_t size) {
  const Hdf5Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), "H5Aopen");
  const Hdf5Id type(H5Aget_type(attribute), "H5Aget_type");
  std::vector<std::byte> value(size);
  check_hdf5(H5Aread(attribute, type, value.data()), "H5Aread");
  return value;
}

void compare_attributes(hid_t a, hid_t b, const std::string& of, Comparison& result) {
  const std::vector<std::string> names = attributes(a);
  if (names != attributes(b)) return result.differs(1, "the attributes of " + of);
  for (const std::string& name : names) {
    const Hdf5Id left(H5Aopen(a, name.c_str(), H5P_DEFAULT), "H5Aopen");
    const Hdf5Id right(H5Aopen(b, name.c_str(), H5P_DEFAULT), "H5Aopen");
    const Hdf5Id left_type(H5Aget_type(left), "H5Aget_type"), right_type(H5Aget_type(right), "H5Aget_type");
    const hsize_t size = H5Aget_storage_size(left);
    const bool same = check_hdf5(H5Tequal(left_type, right_type), "H5Tequal") > 0 &&
                      size == H5Aget_storage_size(right) &&
                      attribute_value(a, name, size) == attribute_value(b, name, size);
    if (!same) result.differs(1, fmt::format("attribute {} of {}", name, of));
  }
}

void compare_objects(const std::string& reference, const std::string& path, Comparison& result) {
  const Hdf5Id left_file = open_hdf5(reference), right_file = open_hdf5(path);
  const std::vector<std::string> names = links_of(left_file);
  if (names != links_of(right_file)) {
    result.differs(1, "the names of the datasets");
    return;
  }
  compare_attributes(left_file, right_file, "the file", result);
  std::vector<std::byte> a, b;
  for (const std::string& name : names) {
    Hdf5Reader left(left_file, name), right(right_file, name);
    if (left.shape() != right.shape() || check_hdf5(H5Tequal(left.type(), right.type()), "H5Tequal") == 0) {
      result.differs(1, "the type or shape of dataset " + name);
      continue;
    }
    compare_attributes(left.dataset(), right.dataset(), "dataset " + name, result);
    const std::size_t size = left.element_size();
    for_each_part(volume(left.shape()), [&](std::int64_t first, std::int64_t count) {
      left.read(first, count, a);
      right.read(first, count, b);
      if (a == b) return;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        if (std::memcmp(a.data() + i * size, b.data() + i * size, size) != 0)
          result.differs(1, fmt::format("{}, element {}", name, first + static_cast<std::int64_t>(i)));
    });
  }
}

}  // namespace

Comparison compare_hdf5(const std::string& reference, const std::string& path) {
  Comparison result;
  try {
    compare_objects(reference, path, result);
  } catch (const std::runtime_error& damaged) {
    result.differs(1, damaged.what());  // a file that cannot be read differs
  }
  return result;
}

Comparison verify_hdf5(const std::string& path, const Written& written) {
  const Hdf5Id file = open_hdf5(path);
  Comparison result;
  std::vector<std::byte> values;
  for (const Variable& variable : written.history.variables) {
    if (H5Lexists(file, variable.name.c_str(), H5P_DEFAULT) <= 0) {
      result.differs(1, fmt::format("dataset {} is missing", variable.name));
      continue;
    }
    Hdf5Reader reader(file, variable.name);
    const std::int64_t elements = volume(written.history.shape(variable));
    const std::int64_t records = variable.record ? written.history.records : 1;
    if (volume(reader.shape()) != elements * records || reader.element_size() != size_of(variable.type)) {
      result.differs(1, fmt::format("the shape of dataset {}", variable.name));
      continue;
    }
    for (std::int64_t record = 0; record < records; ++record) {
      for_each_part(elements, [&](std::int64_t first, std::int64_t count) {
        reader.read(record * elements + first, count, values);
        verify_values(written, variable, record, first, count, values, result);
      });
    }
  }
  return result;
}

}  // namespace forebay::bench
