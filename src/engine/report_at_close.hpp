// The end of a file's life: every rank's counters gathered and handed to the report.
#pragma once

#include "base/status.hpp"

namespace forebay {

struct FileContext;

/// Collective; rank 0 writes. A report that cannot be written is no reason to fail a close: the caller warns.
Status report_at_close(const FileContext& file);

}  // namespace forebay
