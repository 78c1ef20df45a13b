// The table of file systems, by the magic number that statfs(2) gives.
#include "storage/file_system.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace forebay {
namespace {

struct Known {
  unsigned long magic;
  FileSystem system;
};

// From statfs(2) and the parallel file systems' client headers. An overlay's upper layer, where all that is
// written goes, cannot be one that other machines share.
constexpr std::array kFileSystems = {
    Known{0xEF53, {"ext", true, true}},         Known{0x58465342, {"xfs", true, true}},
    Known{0x9123683E, {"btrfs", true, true}},   Known{0x01021994, {"tmpfs", true, true, true}},
    Known{0x794c7630, {"overlay", true, true}}, Known{0xF2F52010, {"f2fs", true, true}},
    Known{0x2FC12FC1, {"zfs", true, false}},    Known{0x0BD00BD0, {"lustre", true, false}},
    Known{0x47504653, {"gpfs", true, false}},   Known{0x19830326, {"beegfs", false, false}},
    Known{0x6969, {"nfs", false, false}},       Known{0xFF534D42, {"cifs", false, false}},
    Known{0x65735546, {"fuse", false, false}},
};

FileSystem look_up(const struct statfs& info) {
  const auto magic = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFUL;
  const auto* known = std::ranges::find(kFileSystems, magic, &Known::magic);
  return known != kFileSystems.end() ? known->system : FileSystem{};
}

}  // namespace

FileSystem file_system_of(int descriptor) {
  struct statfs info{};
  if (::fstatfs(descriptor, &info) != 0) return {std::strerror(errno)};
  return look_up(info);
}

FileSystem file_system_at(const std::string& path) {
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0) return {std::strerror(errno)};
  return look_up(info);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::int64_t preferred_unit(int descriptor) {
  constexpr std::int64_t least = 64 << 10, most = 16 << 20;
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) return 0;
  const auto unit = static_cast<std::int64_t>(info.st_blksize);
  return unit >= least && unit <= most ? unit : 0;
}

}  // namespace forebay
