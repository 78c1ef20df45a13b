// Reads and looks whether it is a report.
#include "report_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

namespace forebay::tools {
namespace {

constexpr int schema_version = 2;

/// A program may be adding to the report. Where a file system has no locks, it is read as it is.
class SharedLock {
 public:
  explicit SharedLock(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ >= 0) (void)::flock(fd_, LOCK_SH);
  }
  ~SharedLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  int fd_;
};

Status read_text(const std::string& path, std::string& text) {
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return std::cin.bad() ? Status{Code::access, "cannot read stdin"} : Status{};
  }
  if (std::error_code error; std::filesystem::is_directory(path, error))
    return {Code::access, "cannot read " + path + ": it is a folder"};
  const SharedLock lock(path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return {Code::access, "cannot read " + path + ": " + std::strerror(errno)};
  text.assign(std::istreambuf_iterator<char>(stream), {});
  return stream.bad() ? Status{Code::access, "cannot read " + path} : Status{};
}

/// Reports nest some six levels; what writes JSON needs stack for each.
bool nests_deeply(const std::string& text) {
  constexpr int most = 100;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Status read_report(const std::string& path, nlohmann::json& document, std::string* text) {
  const std::string name = path == "-" ? "stdin" : path;
  std::string read;
  if (Status status = read_text(path, read); !status.ok()) return status;
  const std::string no_report = name + " is not a report of Forebay: ";
  if (nests_deeply(read)) return {Code::bad_argument, no_report + "it nests too deeply"};
  document = nlohmann::json::parse(read, nullptr, false);
  if (document.is_discarded()) return {Code::bad_argument, no_report + "it is not JSON"};
  if (!document.is_object() || !document.contains("schema") || !document.contains("files"))
    return {Code::bad_argument, no_report + "it is other JSON"};
  if (document.at("schema") != schema_version) {
    return {Code::bad_argument, name + " has another layout (schema " + document.at("schema").dump() +
                                    ") than this version of Forebay reads"};
  }
  if (text != nullptr) *text = std::move(read);
  return {};
}

}  // namespace forebay::tools
