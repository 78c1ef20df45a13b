// Comparing HDF5 files: objects by name, values slab by slab.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "compare.hpp"
#include "hdf5_id.hpp"

namespace forebay::bench {
namespace {

constexpr std::int64_t chunk_elements = 1 << 18;

Hdf5Id open_file(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  check_hdf5(H5Pset_fapl_sec2(access), "H5Pset_fapl_sec2");
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  return Hdf5Id(file, ("H5Fopen " + path).c_str());
}

std::vector<std::string> links(hid_t file) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info2_t*, void* into) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return herr_t{0};
  };
  check_hdf5(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "H5Literate2");
  return names;
}

std::vector<std::string> attributes(hid_t object) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* into) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return herr_t{0};
  };
  check_hdf5(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "H5Aiterate2");
  return names;
}

Shape extent(hid_t space) {
  const int rank = check_hdf5(H5Sget_simple_extent_ndims(space), "H5Sget_simple_extent_ndims");
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0)
    check_hdf5(H5Sget_simple_extent_dims(space, dims.data(), nullptr), "H5Sget_simple_extent_dims");
  return {dims.begin(), dims.end()};
}

// A dataset's raw values, run after run of its elements in row-major order.
class Reader {
 public:
  Reader(hid_t file, const std::string& name)
      : dataset_(H5Dopen2(file, name.c_str(), H5P_DEFAULT), "H5Dopen2"),
        type_(H5Dget_type(dataset_), "H5Dget_type"),
        space_(H5Dget_space(dataset_), "H5Dget_space"),
        shape_(extent(space_)) {}

  hid_t dataset() const { return dataset_; }
  hid_t type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::size_t element_size() const { return H5Tget_size(type_); }

  void read(std::int64_t first, std::int64_t count, std::vector<std::byte>& values) {
    values.resize(static_cast<std::size_t>(count) * element_size());
    if (shape_.empty()) {
      check_hdf5(H5Dread(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "H5Dread");
      return;
    }
    std::byte* to = values.data();
    for_each_box(
        shape_, {first, count}, [&](std::span<const std::int64_t> start, std::span<const std::int64_t> size) {
          const std::vector<hsize_t> begin(start.begin(), start.end()), block(size.begin(), size.end());
          const auto elements = static_cast<hsize_t>(volume(size));
          const Hdf5Id memory(H5Screate_simple(1, &elements, nullptr), "H5Screate_simple");
          check_hdf5(
              H5Sselect_hyperslab(space_, H5S_SELECT_SET, begin.data(), nullptr, block.data(), nullptr),
              "H5Sselect_hyperslab");
          check_hdf5(H5Dread(dataset_, type_, memory, space_, H5P_DEFAULT, to), "H5Dread");
          to += elements * element_size();
        });
  }

 private:
  Hdf5Id dataset_, type_, space_;
  Shape shape_;
};

void for_each_chunk(std::int64_t elements, const std::function<void(std::int64_t, std::int64_t)>& visit) {
  for (std::int64_t first = 0; first < elements; first += chunk_elements)
    visit(first, std::min(chunk_elements, elements - first));
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
  const Hdf5Id left_file = open_file(reference), right_file = open_file(path);
  const std::vector<std::string> names = links(left_file);
  if (names != links(right_file)) {
    result.differs(1, "the names of the datasets");
    return;
  }
  compare_attributes(left_file, right_file, "the file", result);
  std::vector<std::byte> a, b;
  for (const std::string& name : names) {
    Reader left(left_file, name), right(right_file, name);
    if (left.shape() != right.shape() || check_hdf5(H5Tequal(left.type(), right.type()), "H5Tequal") == 0) {
      result.differs(1, "the type or shape of dataset " + name);
      continue;
    }
    compare_attributes(left.dataset(), right.dataset(), "dataset " + name, result);
    const std::size_t size = left.element_size();
    for_each_chunk(volume(left.shape()), [&](std::int64_t first, std::int64_t count) {
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
  const Hdf5Id file = open_file(path);
  Comparison result;
  std::vector<std::byte> values;
  for (const Variable& variable : written.history.variables) {
    if (H5Lexists(file, variable.name.c_str(), H5P_DEFAULT) <= 0) {
      result.differs(1, fmt::format("dataset {} is missing", variable.name));
      continue;
    }
    Reader reader(file, variable.name);
    const std::int64_t elements = volume(written.history.shape(variable));
    const std::int64_t records = variable.record ? written.history.records : 1;
    if (volume(reader.shape()) != elements * records || reader.element_size() != size_of(variable.type)) {
      result.differs(1, fmt::format("the shape of dataset {}", variable.name));
      continue;
    }
    for (std::int64_t record = 0; record < records; ++record) {
      for_each_chunk(elements, [&](std::int64_t first, std::int64_t count) {
        reader.read(record * elements + first, count, values);
        verify_values(written, variable, record, first, count, values, result);
      });
    }
  }
  return result;
}

}  // namespace forebay::bench
