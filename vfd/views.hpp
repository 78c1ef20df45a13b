// Transfers by MPI's own means, file view and datatypes: what HDF5 already describes so, and atomic mode.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "driver.hpp"
#include "request/request.hpp"

namespace forebay::hdf5 {

/// `count` of `type` from or to `buffer`, through a view of `file_type` at `offset`. Collective in that all
/// ranks set the view, and all transfer together where `together`. The view is bytes at 0 again afterwards.
struct ViewTransfer {
  MPI_Offset offset = 0;
  MPI_Datatype file_type = MPI_BYTE;
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};
/// This rank's bytes of a transfer.
std::int64_t bytes_of(const ViewTransfer& t);

Status write_view(DriverFile& f, const ViewTransfer& transfer, bool together);
/// Bytes past the end of the file are zero, but in a derived type of more than 2 GiB, where they are left.
Status read_view(DriverFile& f, const ViewTransfer& transfer, bool together, bool root_broadcasts);

/// The puts as one MPI-IO request where all ranks are in the call, else run by run. `base` is where their
/// stream begins.
Status write_atomic(DriverFile& f, std::span<const Put> puts, const std::byte* base, bool collective);
Status read_atomic(DriverFile& f, std::span<const Get> gets, std::byte* base, bool collective);

}  // namespace forebay::hdf5
