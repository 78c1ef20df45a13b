// A file to which several processes add under a lock, and whose reader sees it whole.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"

namespace forebay {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(-1); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void reset(int fd);

 private:
  int fd_;
};

// `path` is for messages, and `what` says what it is: "report file".

Status read_all(int fd, std::string& text, const std::string& path);
/// A part; short where the file ends before.
std::string read_part(int fd, std::size_t begin, std::size_t length);
Status write_all(int fd, std::size_t offset, const std::string& text, const std::string& path);

/// The file that a symbolic link names is replaced, not the link.
std::string resolved(const std::string& path);

/// Opens, making it where it is missing, and locks. Whoever held the lock before may have put another file in
/// its place: then the lock is on a file that nobody sees any more.
Status open_locked(const std::string& path, const char* what, Descriptor& lock);

/// A reader sees the old text or the new one, also where it does not lock.
Status replace(const std::string& path, const char* what, const std::string& text, int old_fd);

}  // namespace forebay
