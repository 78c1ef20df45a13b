// The report's entry for a file that the library's own driver serves because the shim found no driver to give
// it: nobody else knows of it.
#pragma once

#include <stdint.h>

namespace forebay::preload {

/// Who opens a file together, as far as one rank can tell.
struct Ranks {
  bool first = false;  ///< this one speaks for them
  int count = 1;
};

/// `library`: a handle of something that uses MPI; `comm`: an MPI handle of whatever width, 0 where there is
/// none: then the program's first rank speaks.
Ranks ranks_of(void* library, uintptr_t comm);

/// Whether a report is asked for at all.
bool report_wanted();

/// Adds the file to the report, where one is asked for; by the first of its ranks. `driver`: "hdf5",
/// "pnetcdf".
void report_stock(const char* path, const char* driver, const char* reason, const Ranks& ranks);

}  // namespace forebay::preload
