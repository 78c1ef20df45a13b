// The last way out for bytes that are kept, when the process ends.
#pragma once

#include "base/status.hpp"
#include "engine/write_behind.hpp"

namespace forebay {

/// Writes what the pool keeps with nothing but what a signal handler may call. Failures are told on stderr.
/// `local`: the file is on a file system of this machine alone. There the bytes are copied into its mapped
/// pages, some hundred times faster than a write each: launchers kill a tenth of a second after SIGTERM.
void write_out_in_signal(int fd, const char* path, bool local, Pool& pool, const CountAtExit& count) noexcept;

/// Says on stderr, with what a signal handler may call, that something could not be written.
void say_not_written(const char* path) noexcept;

/// Makes the number at least what it should be, whatever other ranks do at the same time. False on failure.
bool raise_count(int fd, const CountAtExit& count) noexcept;

}  // namespace forebay
