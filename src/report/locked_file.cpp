// flock, pwrite and rename.
#include "report/locked_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace forebay {

void Descriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Status read_all(int fd, std::string& text, const std::string& path) {
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0) return {};
    if (got < 0 && errno != EINTR) return from_errno(errno, "cannot read " + path);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
}

Status write_all(int fd, std::size_t offset, const std::string& text, const std::string& path) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put =
        ::pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno != EINTR) return from_errno(errno, "cannot write " + path);
    if (put > 0) done += static_cast<std::size_t>(put);
  }
  return {};
}

std::string resolved(const std::string& path) {
  std::string name = path;
  for (int links = 0; links < 40; ++links) {
    if (char* real = ::realpath(name.c_str(), nullptr)) {
      name = real;
      std::free(real);
      return name;
    }
    // A link to what is not there yet.
    char target[PATH_MAX];
    const ssize_t length = ::readlink(name.c_str(), target, sizeof target);
    if (length <= 0) return name;
    const std::size_t behind = target[0] == '/' ? 0 : name.rfind('/') + 1;  // 0 where there is no slash
    name = name.substr(0, behind) + std::string(target, static_cast<std::size_t>(length));
  }
  return path;
}

Status open_locked(const std::string& path, const char* what, Descriptor& lock) {
  const std::string name = std::string(what) + " " + path;
  for (;;) {
    lock.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (lock.get() < 0) return from_errno(errno, "cannot open the " + name);
    struct stat mine{};
    if (::fstat(lock.get(), &mine) != 0) return from_errno(errno, "cannot look at the " + name);
    if (!S_ISREG(mine.st_mode)) return {Code::bad_argument, "the " + name + " is not a regular file"};
    while (::flock(lock.get(), LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      // Lustre without its flock option, for one: one writer at a time is by far the usual case.
      if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK) return {};
      return from_errno(errno, "cannot lock the " + name);
    }
    struct stat now{};
    if (::stat(path.c_str(), &now) == 0 && now.st_ino == mine.st_ino && now.st_dev == mine.st_dev) return {};
  }
}

Status replace(const std::string& path, const char* what, const std::string& text, int old_fd) {
  const std::string name = std::string(what) + " " + path;
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) return from_errno(errno, "cannot write beside the " + name);
  struct stat old{};
  if (::fstat(old_fd, &old) == 0) (void)!::fchmod(fd.get(), old.st_mode & 0777);
  Status status = write_all(fd.get(), 0, text, temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = from_errno(errno, "cannot replace the " + name);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

std::string read_part(int fd, std::size_t begin, std::size_t length) {
  std::string part(length, '\0');
  std::size_t done = 0;
  while (done < length) {
    const ssize_t got = ::pread(fd, part.data() + done, length - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  part.resize(done);
  return part;
}

}  // namespace forebay
