// What a rank keeps of its own, written as the process ends.
#pragma once

#include <cstdint>

#include "request/pool.hpp"

namespace forebay {

/// A number in the file that counts what is kept: big-endian, `width` bytes; 0: there is none.
struct CountAtExit {
  std::int64_t offset = 0;
  int width = 0;
  std::int64_t value = 0;
};

/// Writes what the pool keeps with nothing but what a signal handler may call. False on failure.
/// `local`: the file is on a file system of this machine alone. There the bytes are copied into its mapped
/// pages: launchers kill a tenth of a second after SIGTERM.
bool write_out_in_signal(int fd, bool local, Pool& pool) noexcept;

/// Makes the number at least its value, whatever other ranks do at the same time. False on failure.
bool raise_count(int fd, const CountAtExit& count) noexcept;

}  // namespace forebay
