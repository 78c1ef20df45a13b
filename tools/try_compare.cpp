// Bytes first; where these differ, the format's own tool: h5diff for HDF5, cdfdiff or ncmpidiff for netCDF.
#include "try_compare.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "launcher.hpp"
#include "subprocess.hpp"
#include "try_run.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

struct Contents {
  std::set<std::string> files;
  std::set<std::string> closed;  // folders that cannot be read
};

Contents contents_of(const std::string& folder) {
  Contents contents;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::file_type type = at->symlink_status(error).type();
    const std::string name = at->path().lexically_relative(folder).string();
    if (type == fs::file_type::regular) contents.files.insert(name);
    if (type != fs::file_type::directory || ::access(at->path().c_str(), R_OK | X_OK) == 0) continue;
    contents.closed.insert(name);
    at.disable_recursion_pending();
  }
  // A program may remove its folder.
  if (error && error != std::errc::no_such_file_or_directory) contents.closed.insert(".");
  return contents;
}

bool same_bytes(const std::string& a, const std::string& b, bool& readable) {
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  readable = first.good() && second.good();
  std::vector<char> x(std::size_t{1} << 16), y(x.size());
  while (readable && (first || second)) {
    first.read(x.data(), static_cast<std::streamsize>(x.size()));
    second.read(y.data(), static_cast<std::streamsize>(y.size()));
    const auto n = first.gcount();
    if (n != second.gcount() || !std::equal(x.begin(), x.begin() + n, y.begin())) return false;
  }
  return readable;
}

/// The tools that know the format, the first that is here is asked; and what they ignore.
struct Format {
  std::vector<std::string> tools;
  std::string name;
};

Format format_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[8] = {};
  file.read(head, sizeof head);
  const std::string_view text(head, static_cast<std::size_t>(file.gcount()));
  if (text == "\x89HDF\r\n\x1a\n") return {{"h5diff"}, "HDF5"};
  if (text.starts_with("CDF")) return {{"cdfdiff", "ncmpidiff"}, "netCDF"};
  return {};
}

FileVerdict compare_files(const std::string& a, const std::string& b, const std::string& name) {
  FileVerdict verdict;
  verdict.name = name;
  std::error_code error;
  verdict.bytes = static_cast<long long>(fs::file_size(a, error));
  bool readable = false;
  if (same_bytes(a, b, readable)) return verdict;
  verdict.alike = Alike::different;
  if (!readable) {
    verdict.why = "it cannot be read";
    return verdict;
  }
  verdict.why = "its bytes differ";
  const Format format = format_of(a);
  if (format.tools.empty() || format.name != format_of(b).name) return verdict;
  for (const std::string& tool : format.tools) {
    bool denied = false;
    const std::string path = find_program(tool, denied);
    if (path.empty()) continue;
    const Outcome outcome = run_program({path, a, b}, current_environment(), std::chrono::hours(24));
    if (outcome.status == 0 && outcome.output.find("not comparable") != outcome.output.npos) {
      verdict.alike = Alike::unknown;
      verdict.why = tool + " cannot compare all of it";
    } else if (outcome.status == 0 && outcome.output.find("differ") == outcome.output.npos) {
      verdict.alike = Alike::contents;
      verdict.why = tool + " finds no difference";
    } else if (outcome.status == 1 || outcome.status == 0) {
      verdict.why = tool + " finds differences";
    } else {
      verdict.alike = Alike::unknown;
      verdict.why = tool + " cannot compare it";
    }
    return verdict;
  }
  verdict.alike = Alike::unknown;
  verdict.why = "its bytes differ, and " + format.tools.front() + ", which compares contents, is not in PATH";
  return verdict;
}

}  // namespace

std::vector<FileVerdict> compare_folders(const std::string& a, const std::string& b) {
  const Contents of_a = contents_of(a), of_b = contents_of(b);
  const std::set<std::string>&first = of_a.files, &second = of_b.files;
  std::set<std::string> names = first, closed = of_a.closed;
  names.insert(second.begin(), second.end());
  closed.insert(of_b.closed.begin(), of_b.closed.end());
  std::vector<FileVerdict> verdicts;
  for (const std::string& name : closed)
    verdicts.push_back({name, Alike::unknown, "a folder that cannot be read", 0});
  for (const std::string& name : names) {
    if (Interruptible::signal() != 0) break;
    if (first.contains(name) && second.contains(name)) {
      verdicts.push_back(compare_files(a + "/" + name, b + "/" + name, name));
    } else {
      verdicts.push_back(
          {name, Alike::different,
           first.contains(name) ? "the second run did not write it" : "the first run did not write it", 0});
    }
  }
  return verdicts;
}

}  // namespace forebay::tools
