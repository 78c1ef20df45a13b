// Commit mode: when what the core keeps must be in the file. In strict mode nothing is kept, and all of this
// is free.
#pragma once

#include "engine/core_file.hpp"

namespace forebay::pnc {

struct OpenFile;

/// Collective. What any rank keeps is written, and its records are counted in the header. Errors on every
/// rank.
int drain_collective(OpenFile& file);

/// Independent: the same for this rank; PnetCDF's own driver knows its records afterwards.
int drain_independent(OpenFile& file);

/// Before a call of mode `how`, as the data functions have it.
int drain_for(OpenFile& file, int how);

/// Before a call that is collective in both data modes, for what was put in the mode that the file is in.
int drain_in_any_mode(OpenFile& file, FlushFor why = FlushFor::file);

}  // namespace forebay::pnc
