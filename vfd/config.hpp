// What an access list carries for Forebay: the public config struct, kept by HDF5 as the driver's info.
#pragma once

#include <string>

#include "base/status.hpp"
#include "forebay/hdf5.h"

namespace forebay::hdf5 {

/// Set in `flags` by us alone: the access list was filled through the stock driver's functions, under the
/// interposer.
inline constexpr uint32_t kSelectedAsMpio = 1u << 31;
/// The same, alone: what HDF5 was given is no config, and `hints` says why.
inline constexpr uint32_t kRefused = 1u << 30;

/// A copy of `config` in this version's form; NULL gives the defaults. Code::bad_argument or Code::bad_hint
/// where the struct is not one of ours, is of a later version, or holds text without an end.
Status normalize(const H5FD_forebay_config_t* config, H5FD_forebay_config_t& out);

/// What was chosen for the access list by struct or by driver-config string.
Status config_of(hid_t fapl, H5FD_forebay_config_t& out);

/// The driver's identifier, registering it first where needed.
Status driver_id(hid_t& id);

/// Whether the access list selects the driver `id`, whatever an interposed H5Pget_driver says.
bool selects(hid_t fapl, hid_t driver);

/// Whether the access list selects Forebay because the program asked for the stock driver.
bool selected_as_mpio(hid_t fapl) noexcept;

/// Duplicates of communicator and info, which the caller frees; either may be NULL. MPI_COMM_NULL where none
/// was set.
Status get_mpi_params(hid_t fapl, MPI_Comm* comm, MPI_Info* info);

/// Puts driver, communicator, info and config into the access list.
Status select_driver(hid_t fapl, MPI_Comm comm, MPI_Info info, const H5FD_forebay_config_t& config);

/// Callbacks of the class.
void* copy_config(const void* config);
herr_t free_config(void* config);
herr_t terminate();

}  // namespace forebay::hdf5
