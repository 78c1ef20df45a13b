// What is in a file, and whether two files are the same.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace test {

/// The file's bytes; empty where it cannot be read.
std::vector<char> bytes_of(const std::string& path);

/// Links ("path->"), objects, their attributes ("path@name") and datasets' values ("path#", in the file's own
/// type; "path!" where they cannot be read) by path.
using Contents = std::map<std::string, std::vector<char>>;

/// Read serially by HDF5 alone; false where that fails.
bool contents_of(const std::string& path, Contents& contents);

/// Fails a check for the first difference, and describes it.
void compare_files(const std::string& a, const std::string& b);
void compare_contents(const std::string& a, const std::string& b);

}  // namespace test
