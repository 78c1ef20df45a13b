// Files by MPI-IO.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "engine/core_file.hpp"
#include "storage/collective_handle.hpp"

namespace forebay::mpi {

/// The Status of a failed MPI call: class and MPI's own text.
Status from_mpi(int error, const std::string& what);

/// CoreFile::open for a program's communicator; MPI-IO opens the file with this amode and info where somebody
/// needs it to. `options.mode` and `options.opener` are set here.
Status open(MPI_Comm comm, int amode, MPI_Info info, FileOptions& options, std::unique_ptr<CoreFile>& out);

/// MPI-IO's handle, where it was asked for.
MPI_File file_of(const CoreFile& file);

}  // namespace forebay::mpi
