// Any shape and type, through the serial driver.
#include "hdf5_reader.hpp"

#include <algorithm>

namespace forebay::bench {
namespace {

constexpr std::int64_t chunk_elements = 1 << 18;

Shape extent(hid_t space) {
  const int rank = check_hdf5(H5Sget_simple_extent_ndims(space), "H5Sget_simple_extent_ndims");
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0)
    check_hdf5(H5Sget_simple_extent_dims(space, dims.data(), nullptr), "H5Sget_simple_extent_dims");
  return {dims.begin(), dims.end()};
}

}  // namespace

Hdf5Id open_hdf5(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  check_hdf5(H5Pset_fapl_sec2(access), "H5Pset_fapl_sec2");
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  return Hdf5Id(file, ("H5Fopen " + path).c_str());
}

std::vector<std::string> links_of(hid_t file) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info2_t*, void* into) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return herr_t{0};
  };
  check_hdf5(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "H5Literate2");
  return names;
}

Hdf5Reader::Hdf5Reader(hid_t file, const std::string& name)
    : dataset_(H5Dopen2(file, name.c_str(), H5P_DEFAULT), "H5Dopen2"),
      type_(H5Dget_type(dataset_), "H5Dget_type"),
      space_(H5Dget_space(dataset_), "H5Dget_space"),
      shape_(extent(space_)) {}

void Hdf5Reader::read(std::int64_t first, std::int64_t count, std::vector<std::byte>& values) {
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
        check_hdf5(H5Sselect_hyperslab(space_, H5S_SELECT_SET, begin.data(), nullptr, block.data(), nullptr),
                   "H5Sselect_hyperslab");
        check_hdf5(H5Dread(dataset_, type_, memory, space_, H5P_DEFAULT, to), "H5Dread");
        to += elements * element_size();
      });
}

void for_each_part(std::int64_t elements, const std::function<void(std::int64_t, std::int64_t)>& visit) {
  for (std::int64_t first = 0; first < elements; first += chunk_elements)
    visit(first, std::min(chunk_elements, elements - first));
}

}  // namespace forebay::bench
