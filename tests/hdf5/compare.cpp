// What is in a file, and whether two files are the same.
#include "compare.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include "harness.hpp"

namespace test {
namespace {

herr_t read_attribute(hid_t object, const char* name, const H5A_info_t*, void* data) {
  auto& [contents, prefix] = *static_cast<std::pair<Contents*, std::string>*>(data);
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Id type(H5Aget_type(attribute));
  const Id extent(H5Aget_space(attribute));
  std::vector<char> bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(extent)));
  H5Aread(attribute, type, bytes.data());
  (*contents)[prefix + "@" + name] = std::move(bytes);
  return 0;
}

herr_t read_object(hid_t root, const char* name, const H5O_info2_t* info, void* data) {
  auto& contents = *static_cast<Contents*>(data);
  const Id object(H5Oopen(root, name, H5P_DEFAULT));
  std::pair<Contents*, std::string> here{&contents, name};
  hsize_t position = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, read_attribute, &here);
  contents[name].push_back(static_cast<char>(info->type));
  if (info->type != H5O_TYPE_DATASET) return 0;
  const Id type(H5Dget_type(object));
  const Id extent(H5Dget_space(object));
  const auto elements = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(extent), 0));
  std::vector<char> bytes(H5Tget_size(type) * elements);
  // HDF5 refuses to read where nothing was written and nothing fills.
  const bool readable =
      elements == 0 || H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
  if (!readable) bytes.clear();
  contents[std::string(name) + (readable ? "#" : "!")] = std::move(bytes);
  return 0;
}

herr_t read_link(hid_t, const char* name, const H5L_info2_t* info, void* data) {
  (*static_cast<Contents*>(data))[std::string(name) + "->"] = {static_cast<char>(info->type)};
  return 0;
}

}  // namespace

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void compare_files(const std::string& a, const std::string& b) {
  const std::vector<char> left = bytes_of(a);
  const std::vector<char> right = bytes_of(b);
  if (!CHECK(!left.empty())) return;
  if (!CHECK(left.size() == right.size())) {
    std::fprintf(stderr, "  sizes %zu, %zu\n", left.size(), right.size());
    return;
  }
  const auto [l, r] = std::mismatch(left.begin(), left.end(), right.begin());
  if (l == left.end()) return;
  std::size_t different = 0;
  for (std::size_t i = 0; i < left.size(); ++i) different += left[i] != right[i] ? 1 : 0;
  std::fprintf(stderr, "  first difference at byte %td, %zu in all\n", l - left.begin(), different);
  CHECK(!"files are equal byte for byte");
}

bool contents_of(const std::string& path, Contents& contents) {
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_sec2(fapl);  // without Forebay and without MPI: the file has to open anywhere
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, fapl));
  return file >= 0 && H5Lvisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, read_link, &contents) >= 0 &&
         H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, read_object, &contents, H5O_INFO_BASIC) >= 0;
}

void compare_contents(const std::string& a, const std::string& b) {
  Contents left;
  Contents right;
  if (!CHECK(contents_of(a, left)) || !CHECK(contents_of(b, right))) return;
  CHECK(left.size() == right.size());
  for (const auto& [name, bytes] : left) {
    CHECK(!name.ends_with('!'));
    const auto other = right.find(name);
    if (other == right.end() || other->second != bytes) {
      std::fprintf(stderr, "  %s differs\n", name.c_str());
      CHECK(!"contents are equal");
    }
  }
}

}  // namespace test
