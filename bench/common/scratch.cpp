// Makes and removes the folder.
#include "scratch.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace forebay::bench {
namespace fs = std::filesystem;
namespace {

// Free bytes where files of ours may go; -1 where none may.
std::int64_t room(const std::string& folder) {
  struct statvfs status{};
  if (::access(folder.c_str(), W_OK | X_OK) != 0 || ::statvfs(folder.c_str(), &status) != 0) return -1;
  return static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize);
}

std::string choose(std::int64_t bytes) {
  if (room("/dev/shm") >= bytes) return "/dev/shm";
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

}  // namespace

Scratch::Scratch(const std::string& program, const std::string& parent, std::int64_t bytes, bool keep)
    : keep_(keep) {
  const std::string chosen = parent.empty() ? choose(bytes) : parent;
  std::error_code error;
  if (!fs::is_directory(chosen, error))
    throw std::runtime_error(fmt::format("{} is not a folder; --dir names one to write to", chosen));
  const std::int64_t free = room(chosen);
  if (free < 0)
    throw std::runtime_error(fmt::format("{} cannot be written to; --dir names another folder", chosen));
  if (free < bytes)
    throw std::runtime_error(fmt::format(
        "{} has {} MiB free, and {} MiB are needed; --dir names another folder, --help smaller cases", chosen,
        free >> 20, bytes >> 20));
  std::string name = fs::absolute(chosen).lexically_normal() / (program + "-XXXXXX");
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error(fmt::format("cannot make a folder in {}: {}", chosen, std::strerror(errno)));
  path_ = name;
}

Scratch::~Scratch() {
  if (keep_) {
    fmt::print(stderr, "kept: {}\n", path_.string());
    return;
  }
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Scratch::folder(const std::string& name) const {
  remove(name);
  fs::create_directory(path_ / name);
  return file(name);
}

void Scratch::remove(const std::string& name) const {
  if (keep_) return;
  std::error_code ignored;
  fs::remove_all(path_ / name, ignored);
}

}  // namespace forebay::bench
