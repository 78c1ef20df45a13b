// System calls that a signal interrupts, and those that do a part of what they are to do.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace forebay {

/// What a system call returns, made again as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// All of it, at the place where `file` is; errno where it is not ok.
inline bool write_whole(int file, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = uninterrupted([&] { return ::write(file, data, bytes); });
    if (n == 0) errno = ENOSPC;
    if (n <= 0) return false;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace forebay
