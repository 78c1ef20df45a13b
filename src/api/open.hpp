// Opening a file for TCIO, or for boxes of arrays.
#pragma once

#include <mpi.h>

#include <memory>

#include "api/tcio_file.hpp"
#include "base/status.hpp"

namespace forebay::tcio {

/// Who opens: "tcio_open" and "TCIO".
struct Opener {
  const char* function;
  const char* driver;  ///< for the report
  const char* says;    ///< for people
  bool level1;
};

/// What was opened: the core's file, and whether commit mode may buffer.
struct Opened {
  std::unique_ptr<CoreFile> core;
  Access access;
  bool buffering = true;
};

/// Collective; as open_file, without what belongs to TCIO alone. The core file
/// takes part in commit mode by node.
Status open_core(MPI_Comm comm, const char* path, int flags, MPI_Info info, const Opener& opener,
                 Opened& out);

/// Collective over `comm`, an intracommunicator. Wrong arguments of one rank (a null path among them), and
/// arguments that differ, are an error on all.
Status open_file(MPI_Comm comm, const char* path, int flags, MPI_Info info, std::unique_ptr<File>& out);

}  // namespace forebay::tcio
