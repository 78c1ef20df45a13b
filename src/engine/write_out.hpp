// The last way out for bytes that are kept, when the process ends.
#pragma once

#include "base/status.hpp"
#include "engine/write_behind.hpp"

namespace forebay {

/// Writes what the pool keeps, run by run, with nothing but what a signal handler may call. Failures are told
/// on stderr.
void write_out_in_signal(const char* path, Pool& pool, const CountAtExit& count) noexcept;

/// Makes the number at least what it should be.
Status raise_count(Storage& storage, const CountAtExit& count);

}  // namespace forebay
