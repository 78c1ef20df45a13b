#include "stage/file_stamp.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <memory>

namespace forebay {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool stamp_by(const struct stat& info, const std::string& name, FileStamp& out) {
  if (!S_ISREG(info.st_mode)) return false;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(name.c_str(), nullptr), &std::free);
  if (!real) return false;
  out.path = real.get();
  out.id = {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
  out.size = static_cast<std::int64_t>(info.st_size);
  out.changed_at = static_cast<std::int64_t>(info.st_mtim.tv_sec) * kSecond + info.st_mtim.tv_nsec;
  return true;
}

}  // namespace

bool stamp_of(int descriptor, const std::string& name, FileStamp& out) {
  struct stat info{};
  FileId now;
  return ::fstat(descriptor, &info) == 0 && stamp_by(info, name, out) && id_at(name, now) && now == out.id;
}

bool stamp_at(const std::string& name, FileStamp& out) {
  struct stat info{};
  return ::stat(name.c_str(), &info) == 0 && stamp_by(info, name, out);
}

}  // namespace forebay
