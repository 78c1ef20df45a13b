// Compares in chunks, so that memory stays bounded.
#include "compare_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace forebay::bench {

FileComparison compare_bytes(const std::string& reference, const std::string& path) {
  std::ifstream wanted(reference, std::ios::binary), got(path, std::ios::binary);
  if (!wanted || !got) throw std::runtime_error("cannot read " + (wanted ? path : reference));
  std::vector<char> a(std::size_t{1} << 20), b(a.size());
  FileComparison result;
  for (std::int64_t at = 0; wanted || got;) {
    wanted.read(a.data(), static_cast<std::streamsize>(a.size()));
    got.read(b.data(), static_cast<std::streamsize>(b.size()));
    const std::int64_t have = wanted.gcount(), has = got.gcount();
    for (std::int64_t i = 0; i < std::min(have, has); ++i) {
      if (a[static_cast<std::size_t>(i)] == b[static_cast<std::size_t>(i)]) continue;
      ++(a[static_cast<std::size_t>(i)] == 0 ? result.untouched : result.differences);
      if (result.first.empty()) result.first = fmt::format("byte {}", at + i);
    }
    if (have != has) {
      ++result.differences;
      if (result.first.empty()) result.first = "its length";
    }
    at += have;
  }
  return result;
}

}  // namespace forebay::bench
