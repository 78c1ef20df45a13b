// Storage by pwrite and pread.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "storage/storage.hpp"

namespace forebay {
namespace {

class PosixStorage final : public Storage {
 public:
  PosixStorage(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixStorage() override { ::close(fd_); }
  PosixStorage(const PosixStorage&) = delete;
  PosixStorage& operator=(const PosixStorage&) = delete;

  Status write(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      std::int64_t done = 0;
      while (done < piece.length) {
        const ssize_t n = ::pwrite(fd_, piece.data + done, static_cast<std::size_t>(piece.length - done),
                                   piece.offset + done);
        if (n < 0 && errno == EINTR) continue;
        // A pwrite of nothing is a file system that can take no more.
        if (n <= 0) {
          return from_errno(n < 0 ? errno : ENOSPC,
                            range_message("write", path_, piece.offset + done, piece.length - done));
        }
        done += n;
      }
    }
    return {};
  }

  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    std::int64_t done = 0;
    while (done < length) {
      const ssize_t n = ::pread(fd_, data + done, static_cast<std::size_t>(length - done), offset + done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return from_errno(errno, range_message("read", path_, offset + done, length - done));
      if (n == 0) break;
      done += n;
    }
    std::memset(data + done, 0, static_cast<std::size_t>(length - done));
    return {};
  }

 private:
  int fd_;
  std::string path_;
};

struct FileSystem {
  unsigned long magic;
  const char* name;
  bool coherent;
  bool local = false;
};

// Magic numbers of statfs(2) and of the parallel file systems' client headers.
constexpr std::array kFileSystems = {
    FileSystem{0xEF53, "ext", true, true},       FileSystem{0x58465342, "xfs", true, true},
    FileSystem{0x9123683E, "btrfs", true, true}, FileSystem{0x01021994, "tmpfs", true, true},
    FileSystem{0x794c7630, "overlay", true},     FileSystem{0x2FC12FC1, "zfs", true},
    FileSystem{0x0BD00BD0, "lustre", true},      FileSystem{0x47504653, "gpfs", true},
    FileSystem{0xF2F52010, "f2fs", true, true},  FileSystem{0x6969, "nfs", false},
    FileSystem{0xFF534D42, "cifs", false},       FileSystem{0x65735546, "fuse", false},
};

FileSystem file_system_of(const std::string& path) {
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0) return {0, std::strerror(errno), false};
  const auto magic = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFUL;
  const auto* known = std::find_if(kFileSystems.begin(), kFileSystems.end(),
                                   [&](const FileSystem& f) { return f.magic == magic; });
  return known != kFileSystems.end() ? *known : FileSystem{0, "unknown", false};
}

}  // namespace

std::string range_message(const char* verb, const std::string& path, std::int64_t offset,
                          std::int64_t length) {
  return std::string("cannot ") + verb + " bytes [" + std::to_string(offset) + ", " +
         std::to_string(offset + length) + ") of " + path;
}

Status open_posix_storage(const std::string& path, bool writable, std::unique_ptr<Storage>& out) {
  const int fd = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) return from_errno(errno, "cannot open " + path);
  out = std::make_unique<PosixStorage>(fd, path);
  return {};
}

bool coherent_file_system(const std::string& path, std::string& kind) {
  const FileSystem system = file_system_of(path);
  kind = system.name;
  return system.coherent;
}

bool local_file_system(const std::string& path) {
  return file_system_of(path).local;
}

std::int64_t preferred_unit(const std::string& path) {
  constexpr std::int64_t least = 64 << 10, most = 16 << 20;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return 0;
  const auto unit = static_cast<std::int64_t>(info.st_blksize);
  return unit >= least && unit <= most ? unit : 0;
}

}  // namespace forebay
