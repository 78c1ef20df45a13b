// Who speaks for a parallel program before MPI tells, and whether it was asked to speak more.
#pragma once

#include <span>

namespace forebay {

/// The variables in which launchers tell a process its rank, the most telling first. The preloaded shim,
/// which cannot have this, looks at the same ones (preload/say.cpp).
std::span<const char* const> rank_variables();

/// Whether a launcher says that this is the first rank, or, of a job of several programs, that of its own; or
/// nothing at all.
bool first_by_launcher();

/// FOREBAY_VERBOSE is set, and not to 0.
bool verbose();

}  // namespace forebay
