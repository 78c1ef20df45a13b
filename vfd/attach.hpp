// What the preloaded shim calls in this library once it has found a parallel HDF5 in the process.
//
// How the shim uses it: it defines H5Pset_fapl_mpio, H5Pget_fapl_mpio and H5Pget_driver. On the first call of
// one of them it finds the HDF5 that the call is meant for, loads the driver that matches, and hands that
// library's own functions to forebay_hdf5_attach. From then on it forwards:
//   H5Pset_fapl_mpio(fapl, comm, info)  -> forebay_hdf5_set_fapl_mpio(fapl, comm, info)
//   H5Pget_fapl_mpio(fapl, comm, info)  -> forebay_hdf5_get_fapl_mpio(fapl, comm, info)
//   H5Pget_driver(fapl)                 -> forebay_hdf5_get_driver(fapl, stock H5Pget_driver(fapl))
// and asks before H5Fset_mpi_atomicity and H5Fget_mpi_atomicity.
// Where forebay_hdf5_attach is not found or does not return 0, the shim calls the stock functions and never
// this library.
//
// Why H5Pget_driver: programs compare it with H5FD_MPIO, which expands to a function of HDF5 in 1.14 and to a
// variable in 2.x, and which a program may have evaluated before it set anything. So the answer is changed
// rather than the constant: an access list that was filled through H5Pset_fapl_mpio answers with the stock
// driver's identifier, one that was filled with H5Pset_fapl_forebay or HDF5_DRIVER with Forebay's. HDF5
// itself never calls H5Pget_driver.
#pragma once

#include "forebay/hdf5.h"

namespace forebay::hdf5 {

/// Whether the shim has found this library to fit.
bool is_attached();

}  // namespace forebay::hdf5

extern "C" {

/// Takes the functions H5Pset_fapl_mpio and H5Pget_fapl_mpio of the HDF5 that the program uses. Returns 0
/// when Forebay can serve that library. Otherwise the reason waits in forebay_hdf5_refusal(), and the two
/// functions below hand on to the stock ones.
FOREBAY_API int forebay_hdf5_attach(void* stock_set_fapl_mpio, void* stock_get_fapl_mpio);

/// Why the last forebay_hdf5_attach did not return 0; "" when it did.
FOREBAY_API const char* forebay_hdf5_refusal(void);

/// As H5Pset_fapl_mpio, errors included, but the list selects Forebay. With forebay_enable=off it is the
/// stock function, and rank 0 of `comm` says so once. A bad hint in the environment is an error.
FOREBAY_API herr_t forebay_hdf5_set_fapl_mpio(hid_t fapl_id, MPI_Comm comm, MPI_Info info);

/// As H5Pget_fapl_mpio, for lists that select the stock driver and for those filled by the function above.
FOREBAY_API herr_t forebay_hdf5_get_fapl_mpio(hid_t fapl_id, MPI_Comm* comm, MPI_Info* info);

/// What H5Pget_driver has to return, given what the library's own returned.
FOREBAY_API hid_t forebay_hdf5_get_driver(hid_t fapl_id, hid_t stock_answer);

/// Before H5Fset_mpi_atomicity, on all ranks of the file: makes its MPI_File. Negative where that fails.
FOREBAY_API herr_t forebay_hdf5_before_atomicity(hid_t file_id);

/// Instead of H5Fget_mpi_atomicity: 1 where the file has no MPI_File, and so is not atomic; 0 where HDF5 is
/// to be asked.
FOREBAY_API int forebay_hdf5_is_not_atomic(hid_t file_id);

}  // extern "C"
