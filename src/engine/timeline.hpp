// The timeline of a file on all its ranks, from open to close (forebay_trace).
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "base/trace.hpp"
#include "report/trace_file.hpp"

namespace forebay {

struct FileContext;

/// One rank's.
struct Timeline {
  Trace trace;
  ClockSamples at_open;
};

/// Collective, where one is wanted. `began`: when the open did.
void begin_timeline(FileContext& file, std::int64_t began);

/// Collective; rank 0 adds all ranks' to the file settings.trace. A timeline that cannot be written is no
/// reason to fail a close: the caller warns.
Status trace_at_close(FileContext& file);

}  // namespace forebay
