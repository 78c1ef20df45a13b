// A file that is only read is staged on each node, where that is wanted.
#pragma once

namespace forebay {

struct FileContext;

/// Collective, when the file is open and cut. What goes wrong is said in one line, and the file is read
/// without a stage, on that node or by that rank.
void start_staging(FileContext& file);
/// Before the file is closed.
void stop_staging(FileContext& file);
/// When all ranks have done so: removes what nobody else finds.
void remove_own_stage(FileContext& file);

}  // namespace forebay
