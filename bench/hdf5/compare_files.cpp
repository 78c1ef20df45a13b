// Compares in parts, so that memory stays bounded.
#include "compare_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "hdf5_reader.hpp"

namespace forebay::bench {
namespace {

constexpr std::int64_t part = std::int64_t{1} << 20;

std::vector<std::string> attributes(hid_t object) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* into) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return herr_t{0};
  };
  check_hdf5(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "H5Aiterate2");
  return names;
}

std::vector<std::byte> value_of(hid_t attribute, hid_t type) {
  std::vector<std::byte> value(H5Aget_storage_size(attribute));
  check_hdf5(H5Aread(attribute, type, value.data()), "H5Aread");
  return value;
}

void compare_attributes(hid_t a, hid_t b, const std::string& of, FileComparison& result) {
  const std::vector<std::string> names = attributes(a);
  if (names != attributes(b)) return result.differs("the attributes of " + of);
  for (const std::string& name : names) {
    const Hdf5Id left(H5Aopen(a, name.c_str(), H5P_DEFAULT), "H5Aopen");
    const Hdf5Id right(H5Aopen(b, name.c_str(), H5P_DEFAULT), "H5Aopen");
    const Hdf5Id left_type(H5Aget_type(left), "H5Aget_type"), right_type(H5Aget_type(right), "H5Aget_type");
    if (check_hdf5(H5Tequal(left_type, right_type), "H5Tequal") <= 0 ||
        value_of(left, left_type) != value_of(right, right_type))
      result.differs(fmt::format("attribute {} of {}", name, of));
  }
}

void note(FileComparison& result, const std::string& what) {
  if (result.first.empty()) result.first = what;
}

void compare_dataset(hid_t left_file, hid_t right_file, const std::string& name, FileComparison& result) {
  Hdf5Reader left(left_file, name), right(right_file, name);
  if (left.shape() != right.shape() || check_hdf5(H5Tequal(left.type(), right.type()), "H5Tequal") == 0) {
    return result.differs("the type or shape of dataset " + name);
  }
  compare_attributes(left.dataset(), right.dataset(), "dataset " + name, result);
  std::vector<std::byte> a, b;
  for_each_part(volume(left.shape()), [&](std::int64_t first, std::int64_t count) {
    left.read(first, count, a);
    right.read(first, count, b);
    if (a == b) return;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      ++(a[i] == std::byte{0} ? result.untouched : result.differences);
      note(result,
           fmt::format("{}, element {}", name, static_cast<std::size_t>(first) + i / left.element_size()));
    }
  });
}

void compare_values(hid_t reference, const std::string& path, FileComparison& result) {
  const Hdf5Id file = open_hdf5(path);
  const std::vector<std::string> names = links_of(reference);
  if (names != links_of(file)) return result.differs("the names of the datasets");
  compare_attributes(reference, file, "the file", result);
  for (const std::string& name : names) compare_dataset(reference, file, name, result);
}

// Counts the bytes that differ; none means that the files are the same.
void compare_bytes(const std::string& reference, const std::string& path, FileComparison& result) {
  std::ifstream left(reference, std::ios::binary), right(path, std::ios::binary);
  std::vector<char> a(part), b(part);
  for (std::int64_t at = 0; left && right; at += part) {
    left.read(a.data(), part);
    right.read(b.data(), part);
    const std::int64_t both = std::min(left.gcount(), right.gcount());
    if (std::memcmp(a.data(), b.data(), static_cast<std::size_t>(both)) == 0) continue;
    for (std::int64_t i = 0; i < both; ++i) {
      if (a[static_cast<std::size_t>(i)] == b[static_cast<std::size_t>(i)]) continue;
      ++result.untouched;
      note(result, fmt::format("byte {}, not among the values", at + i));
    }
  }
  const std::uintmax_t wanted = std::filesystem::file_size(reference), got = std::filesystem::file_size(path);
  if (wanted == got) return;
  ++result.untouched;
  note(result, fmt::format("its length, {} bytes instead of {}", got, wanted));
}

}  // namespace

FileComparison compare_hdf5_values(const std::string& reference, const std::string& path) {
  const Hdf5Id left = open_hdf5(reference);
  FileComparison result;
  try {
    compare_values(left, path, result);
  } catch (const std::runtime_error& damaged) {
    result.differs(damaged.what());
  }
  return result;
}

FileComparison compare_hdf5_files(const std::string& reference, const std::string& path) {
  FileComparison result = compare_hdf5_values(reference, path);
  if (result.same()) compare_bytes(reference, path, result);
  return result;
}

std::int64_t bytes_put_hdf5(const std::string& path) {
  const Hdf5Id file = open_hdf5(path);
  std::int64_t put = 0;
  std::vector<std::byte> values;
  for (const std::string& name : links_of(file)) {
    Hdf5Reader reader(file, name);
    for_each_part(volume(reader.shape()), [&](std::int64_t first, std::int64_t count) {
      reader.read(first, count, values);
      put += std::count_if(values.begin(), values.end(), [](std::byte one) { return one != std::byte{0}; });
    });
  }
  return put;
}

}  // namespace forebay::bench
