// The HDF5 library that this driver is bound to: whether it is one the driver knows, and the functions of its
// API context that a parallel driver cannot do without though no public header declares them.
#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <cstdint>

#include "base/status.hpp"

namespace forebay::hdf5 {

/// What HDF5 keeps in its API context about the transfer in progress. The property list that a callback is
/// given is not enough: the library changes its mind within a call.
struct ApiContext {
  herr_t (*get_io_xfer_mode)(H5FD_mpio_xfer_t*) = nullptr;
  herr_t (*get_mpi_coll_datatypes)(MPI_Datatype* memory, MPI_Datatype* file) = nullptr;
  herr_t (*get_mpio_coll_opt)(H5FD_mpio_collective_opt_t*) = nullptr;
  bool (*get_mpio_rank0_bcast)() = nullptr;
  bool (*get_mpi_file_flushing)() = nullptr;
  herr_t (*get_no_collective_cause)(std::uint32_t*) = nullptr;  ///< of any rank; may be missing
  hid_t (*get_driver)(hid_t fapl) =
      nullptr;  ///< H5Pget_driver itself, also where a preloaded one stands before it
  // Themselves, too; they may be missing.
  herr_t (*set_mpi_atomicity)(hid_t file, bool flag) = nullptr;
  herr_t (*get_mpi_atomicity)(hid_t file, bool* flag) = nullptr;
  int (*get_ring)() = nullptr;  ///< the metadata cache's ring of the work in progress; may be missing
  // The value of a property without the copy that H5Pget makes: of a communicator, that is a collective call
  // without an end where a rank is missing. These two may be missing.
  void* (*object_of)(hid_t) = nullptr;
  herr_t (*peek)(const void* list, const char* property, void* value) = nullptr;
  // Of a dataspace, object_of() its identifier, what the functions of like names in the API tell: those take
  // ten times as long, and a small write asks six times. All or none; they need HDF5's lock, which a callback
  // has.
  hssize_t (*get_select_npoints)(const void* space) = nullptr;
  H5S_sel_type (*get_select_type)(const void* space) = nullptr;
  herr_t (*get_select_bounds)(const void* space, hsize_t* low, hsize_t* high) = nullptr;

  /// Whether all ranks are in this call.
  bool collective() const {
    H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
    return get_io_xfer_mode(&mode) >= 0 && mode == H5FD_MPIO_COLLECTIVE;
  }
};

/// The functions above in the library that this driver's HDF5 calls go to; Code::unsupported where one is
/// missing.
Status api_context(const ApiContext*& context);

/// Whether the library is of the version (major.minor) that this driver was compiled for.
Status check_version();

/// Whether the bound HDF5 and this driver use the same MPI library.
Status check_same_mpi();

/// Whether `caller`, an address in the code that loads the plugin, belongs to the HDF5 library that this
/// driver is bound to. It does not when a serial HDF5, or a second one, loads it.
Status check_same_library(const void* caller);

}  // namespace forebay::hdf5
