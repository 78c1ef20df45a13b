// Looking at /proc/self/fd, and not even there where a name has one meaning only.
#include "storage/descriptors.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace forebay {
namespace {

FileId id_from(const struct stat& info) {
  return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
}

std::vector<int> all_descriptors() {
  std::vector<int> all;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return all;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    const int descriptor = std::atoi(entry->d_name);
    if (descriptor != ::dirfd(folder)) all.push_back(descriptor);
  }
  ::closedir(folder);
  std::sort(all.begin(), all.end());
  return all;
}

// A descriptor of anything, with the number that the next open gets.
int take_lowest() {
  for (const int any : {0, 1, 2}) {
    const int free = ::fcntl(any, F_DUPFD_CLOEXEC, 0);
    if (free >= 0 || errno == EMFILE) return free;
  }
  return ::open("/", O_RDONLY | O_CLOEXEC);
}

int lowest_free() {
  const int free = take_lowest();
  if (free >= 0) ::close(free);
  return free;
}

}  // namespace

bool id_of(int descriptor, FileId& out) {
  struct stat info{};
  if (descriptor < 0 || ::fstat(descriptor, &info) != 0) return false;
  out = id_from(info);
  return true;
}

bool id_at(const std::string& path, FileId& out) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return false;
  out = id_from(info);
  return true;
}

std::vector<int> descriptors_of(const FileId& file) {
  std::vector<int> all = all_descriptors();
  std::erase_if(all, [&](int descriptor) {
    FileId id;
    return !id_of(descriptor, id) || id != file;
  });
  return all;
}

bool descriptors_left(int wanted) {
  const int taken = take_lowest();
  if (taken < 0) return false;
  const bool more = wanted == 1 || descriptors_left(wanted - 1);
  ::close(taken);
  return more;
}

bool may_have_prefix(const std::string& path) {
  return path.find(':') != std::string::npos;
}

BeforeOpen::BeforeOpen(const std::string& path) : path_(path), lowest_(lowest_free()) {
  if (may_have_prefix(path)) before_ = all_descriptors();
}

BeforeOpen::Found BeforeOpen::find() const {
  Found found;
  FileId opened;
  if (!may_have_prefix(path_)) {
    if (!id_at(path_, found.id)) return found;
    found.name = path_;
    if (id_of(lowest_, opened) && opened == found.id) {
      found.descriptor = lowest_;
      return found;
    }
    for (const int descriptor : all_descriptors()) {
      if (id_of(descriptor, opened) && opened == found.id) found.descriptor = descriptor;
    }
    return found;
  }
  // The whole, or what lies behind a prefix, whichever somebody has opened since. Other threads may open
  // files meanwhile: both means that it cannot be told.
  std::vector<int> fresh;
  const std::vector<int> now = all_descriptors();
  std::set_difference(now.begin(), now.end(), before_.begin(), before_.end(), std::back_inserter(fresh));
  for (const std::string& name : {path_, path_.substr(path_.find(':') + 1)}) {
    FileId id;
    if (!id_at(name, id)) continue;
    const auto opener = std::find_if(fresh.begin(), fresh.end(), [&](int descriptor) {
      return id_of(descriptor, opened) && opened == id;
    });
    if (opener == fresh.end() || (found.descriptor >= 0 && found.id == id)) continue;
    if (found.descriptor >= 0) return {};
    found = {name, id, *opener};
  }
  return found;
}

}  // namespace forebay
