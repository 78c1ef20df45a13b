// Compares in chunks, so that memory stays bounded.
#include "compare_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "classic_file.hpp"

namespace forebay::bench {
namespace {

constexpr std::int64_t chunk = std::int64_t{1} << 20;

// The variable that a byte belongs to.
std::string place(const ClassicFile& file, std::int64_t offset) {
  if (offset < file.data_begin()) return fmt::format("byte {}, in the header", offset);
  const ClassicFile::Variable* found = nullptr;
  for (const ClassicFile::Variable& one : file.variables())
    if (one.begin <= offset && (found == nullptr || one.begin > found->begin)) found = &one;
  return found->record ? fmt::format("byte {}, among the records", offset)
                       : fmt::format("byte {}, in variable {}", offset, found->name);
}

}  // namespace

FileComparison compare_files(const std::string& reference, const std::string& path) {
  const ClassicFile wanted(reference);
  FileComparison result;
  std::optional<ClassicFile> opened;
  try {
    opened.emplace(path);
  } catch (const std::runtime_error& damaged) {
    result.differs(fmt::format("the header: {}", damaged.what()));
    return result;
  }
  const ClassicFile& got = *opened;
  const auto note = [&](const std::string& what) {
    if (result.first.empty()) result.first = what;
  };
  if (wanted.size() != got.size()) {
    ++result.differences;
    note(fmt::format("its length, {} bytes instead of {}", got.size(), wanted.size()));
  }
  const std::int64_t end = std::min(wanted.size(), got.size()), data = wanted.data_begin();
  std::vector<std::byte> a, b;
  for (std::int64_t at = 0; at < end; at += chunk) {
    a.resize(static_cast<std::size_t>(std::min(chunk, end - at)));
    b.resize(a.size());
    wanted.read_raw(at, a);
    got.read_raw(at, b);
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) continue;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      const std::int64_t offset = at + static_cast<std::int64_t>(i);
      ++(offset >= data && a[i] == std::byte{0} ? result.untouched : result.differences);
      note(place(wanted, offset));
    }
  }
  return result;
}

std::int64_t bytes_put(const std::string& path) {
  const ClassicFile file(path);
  std::int64_t put = 0;
  std::vector<std::byte> bytes;
  for (std::int64_t at = file.data_begin(); at < file.size(); at += chunk) {
    bytes.resize(static_cast<std::size_t>(std::min(chunk, file.size() - at)));
    file.read_raw(at, bytes);
    put += std::count_if(bytes.begin(), bytes.end(), [](std::byte one) { return one != std::byte{0}; });
  }
  return put;
}

}  // namespace forebay::bench
