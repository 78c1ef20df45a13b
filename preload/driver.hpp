// Finding the driver library that fits a library in the process, and loading it without loading anything
// else.
#pragma once

#include <stddef.h>

#include "process.hpp"

namespace forebay::preload {

/// Why something is left to the stock driver; a sentence.
struct Reason {
  char text[1024] = "";
  void set(const char* format, ...) __attribute__((format(printf, 2, 3)));
};

/// False, with the reason, where FOREBAY_ENABLE says so.
bool enabled(Reason& reason);

/// Loads `file` ("libforebay_hdf5.so") from FOREBAY_LIBDIR (a list of whole paths of folders between colons),
/// or from beside or above the shim; never where others may change it (trust.hpp). It must have been built for the library that defines `stock` and for the MPI that this
/// library uses; otherwise loading it would bring a second HDF5 or MPI into the process. `prefix` begins the
/// names of such libraries ("libhdf5"). Null, with the reason, where it does not fit.
void* load_driver(const char* file, const char* prefix, const Definition& stock, Reason& reason);

/// Has the drivers that were loaded write what they keep of open files, for the program is about to end.
void write_out_drivers();

}  // namespace forebay::preload
