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

void note(FileComparison& result, const std::string& what) {
  if (result.first.empty()) result.first = what;
}

void compare_dataset(hid_t left_file, hid_t right_file, const std::string& name, FileComparison& result) {
  Hdf5Reader left(left_file, name), right(right_file, name);
  if (left.shape() != right.shape() || check_hdf5(H5Tequal(left.type(), right.type()), "H5Tequal") == 0) {
    ++result.differences;
    return note(result, "the type or shape of dataset " + name);
  }
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
  if (names != links_of(file)) {
    ++result.differences;
    return note(result, "the names of the datasets");
  }
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

FileComparison compare_hdf5_files(const std::string& reference, const std::string& path) {
  const Hdf5Id left = open_hdf5(reference);
  FileComparison result;
  try {
    compare_values(left, path, result);
  } catch (const std::runtime_error& damaged) {
    ++result.differences;
    note(result, damaged.what());
    return result;
  }
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
