// Opening a TCIO file.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/tcio_file.hpp"
#include "base/status.hpp"

namespace forebay::tcio {

/// Collective over `comm`, an intracommunicator. Wrong arguments of one rank (a null path among them), and
/// arguments that differ, are an error on all.
Status open_file(MPI_Comm comm, const char* path, int flags, MPI_Info info, std::unique_ptr<File>& out);

}  // namespace forebay::tcio
