// A row's file, and those that it wrote beside it: FILE.1 and so on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "subject.hpp"

namespace forebay::bench {

std::vector<std::string> row_files(const std::string& path);

// Each of them against its counterpart by `compare`; another number of files is a difference. Those beside
// `path` are removed, since the benchmark removes the one that it knows.
FileComparison compare_row_files(
    const std::string& reference, const std::string& path,
    const std::function<FileComparison(const std::string&, const std::string&)>& compare);

}  // namespace forebay::bench
