// The lines that the shim writes on stderr, one for a whole parallel program where MPI or its launcher tells
// who is first.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace forebay::preload {

/// Whether this process is the first of the program, or of `comm` (an MPI handle of whatever width, passed
/// through) where that has several ranks. `library` is a handle of something that uses MPI; both may be null.
bool is_first(void* library, uintptr_t comm);

/// Whether a launcher says that this process is the first of its program, or nothing at all.
bool first_by_launcher();

/// This process's rank in `comm` and how many there are; false where MPI is not running or not found.
bool rank_in(void* library, uintptr_t comm, int& rank, int& size);

/// Writes "forebay: …" and a line end in one piece.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace forebay::preload
