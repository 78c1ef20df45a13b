// Who speaks for a parallel program before MPI tells, and whether it was asked to speak more.
#pragma once

#include <span>
#include <string>

namespace forebay {

/// The variables in which launchers tell a process its rank, the most telling first. The preloaded shim,
/// which cannot have this, looks at the same ones (preload/say.cpp).
std::span<const char* const> rank_variables();
/// This process's, by the first of them that is set; "": none is.
std::string rank_by_launcher();

/// Whether a launcher says that this is the first rank, or, of a job of several programs, that of its own; or
/// nothing at all.
bool first_by_launcher();

/// Whether this rank of a communicator speaks for it in one line a library and program: the program's first,
/// or rank 0 where there are several. A file of one rank alone speaks for nobody else.
bool speaks_for(int rank, int ranks);

/// FOREBAY_VERBOSE is set, and not to 0.
bool verbose();

}  // namespace forebay
