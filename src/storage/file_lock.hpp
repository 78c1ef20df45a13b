// Keeps the processes of other nodes out of a range of the file while its holes are filled.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace forebay {

/// fcntl(2) on a byte range. False: errno says why. `found`: what F_GETLK and its like tell.
inline bool lock_range(int fd, int command, short type, std::int64_t begin, std::int64_t length,
                       short* found = nullptr) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(begin);
  range.l_len = static_cast<off_t>(length);
  int result = 0;
  do {
    result = ::fcntl(fd, command, &range);
  } while (result != 0 && errno == EINTR);
  if (found != nullptr) *found = range.l_type;
  return result == 0;
}

/// A lock of a byte range, of an open file description: it ends with the process, and not with another
/// descriptor that MPI-IO closes.
class FileLock {
 public:
  enum class Kind { exclusive, shared };

  FileLock(int fd, std::int64_t begin, std::int64_t length) : fd_(fd), begin_(begin), length_(length) {
    held_ = set(F_WRLCK, F_OFD_SETLKW);
  }
  /// Without being put to sleep: `wait` says whether to try once more.
  template <class Wait>
  FileLock(int fd, std::int64_t begin, std::int64_t length, Wait&& wait, Kind kind = Kind::exclusive)
      : fd_(fd), begin_(begin), length_(length) {
    do {
      held_ = set(kind == Kind::exclusive ? F_WRLCK : F_RDLCK, F_OFD_SETLK);
    } while (!held_ && (errno == EAGAIN || errno == EACCES) && wait());
  }
  ~FileLock() {
    if (held_) (void)set(F_UNLCK, F_OFD_SETLK);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// False: the file system has no locks; errno says why.
  bool held() const { return held_; }

 private:
  bool set(short type, int command) const { return lock_range(fd_, command, type, begin_, length_); }

  int fd_;
  std::int64_t begin_;
  std::int64_t length_;
  bool held_ = false;
};

}  // namespace forebay
