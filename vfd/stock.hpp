// The stock MPI-IO driver, for a file that Forebay does not serve.
#pragma once

#include <H5FDdevelop.h>
#include <hdf5.h>
#include <mpi.h>

#include "base/status.hpp"

namespace forebay::hdf5 {

/// Opens `name` with the stock driver, with the other properties of `fapl`. The driver's callbacks are then
/// called through `file->cls`, within the library call that called ours, so that they see its API context.
/// `base_addr` of `file` stays 0: the offsets we hand on are absolute.
Status open_stock(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr, MPI_Comm comm, MPI_Info info,
                  H5FD_t*& file);

}  // namespace forebay::hdf5
