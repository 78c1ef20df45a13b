// Of both kinds of files.
#include "file_values.hpp"

#include <algorithm>
#include <vector>

#include "compare_files.hpp"
#include "hdf5_reader.hpp"

namespace forebay::bench {
namespace {

std::vector<std::string> datasets_of(hid_t file) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5O_info2_t* info, void* into) {
    if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return herr_t{0};
  };
  check_hdf5(H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, collect, &names, H5O_INFO_BASIC), "H5Ovisit3");
  return names;
}

}  // namespace

std::int64_t bytes_of_values(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  if (H5Fis_accessible(path.c_str(), H5P_DEFAULT) <= 0) return bytes_put(path);
  const Hdf5Id file = open_hdf5(path);
  std::int64_t bytes = 0;
  std::vector<std::byte> values;
  for (const std::string& name : datasets_of(file)) {
    Hdf5Reader reader(file, name);
    for_each_part(volume(reader.shape()), [&](std::int64_t first, std::int64_t count) {
      reader.read(first, count, values);
      bytes += std::count_if(values.begin(), values.end(), [](std::byte one) { return one != std::byte{0}; });
    });
  }
  return bytes;
}

}  // namespace forebay::bench
