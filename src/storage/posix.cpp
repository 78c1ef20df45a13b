// Storage by pwrite and pread.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "storage/emergency_writer.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

class PosixStorage final : public Storage {
 public:
  PosixStorage(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  Status write(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      if (Piece left{}; !pwrite_all(fd_, piece, &left))
        return from_errno(errno, range_message("write", path_, left.offset, left.length));
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

}  // namespace

std::string range_message(const char* verb, const std::string& path, std::int64_t offset,
                          std::int64_t length) {
  return std::string("cannot ") + verb + " bytes [" + std::to_string(offset) + ", " +
         std::to_string(offset + length) + ") of " + path;
}

std::unique_ptr<Storage> make_posix_storage(int descriptor, std::string path) {
  return std::make_unique<PosixStorage>(descriptor, std::move(path));
}

}  // namespace forebay
