// Storage by independent MPI-IO on an open file handle.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "storage/storage.hpp"

namespace forebay {

/// `file` stays the caller's, with the default view (bytes at 0). `descriptor`: of that file, to ask how much
/// room is left; -1: none.
std::unique_ptr<Storage> make_mpiio_storage(MPI_File file, std::string path, int descriptor = -1);

/// The Status of a failed MPI call: class and MPI's own text.
Status from_mpi(int error, const std::string& what);

}  // namespace forebay
