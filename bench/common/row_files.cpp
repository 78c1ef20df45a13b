// Rows of programs that make a file a step.
#include "row_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace forebay::bench {

std::vector<std::string> row_files(const std::string& path) {
  std::vector<std::string> files = {path};
  for (;;) {
    const std::string next = fmt::format("{}.{}", path, files.size());
    if (!std::filesystem::exists(next)) return files;
    files.push_back(next);
  }
}

FileComparison compare_row_files(
    const std::string& reference, const std::string& path,
    const std::function<FileComparison(const std::string&, const std::string&)>& compare) {
  FileComparison all;
  const std::vector<std::string> wanted = row_files(reference), got = row_files(path);
  if (wanted.size() != got.size()) all.differs("the number of its files");
  for (std::size_t i = 0; i < std::min(wanted.size(), got.size()); ++i) {
    const FileComparison one = compare(wanted[i], got[i]);
    all.differences += one.differences;
    all.untouched += one.untouched;
    if (all.first.empty()) all.first = one.first;
  }
  for (std::size_t i = 1; i < got.size(); ++i) std::filesystem::remove(got[i]);
  return all;
}

}  // namespace forebay::bench
