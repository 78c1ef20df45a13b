// MPI_Abort ends a program without closing its files: what is still kept is written before. This one is met
// by programs that are linked with this library, or load it, before MPI; where the shim loads it, the shim
// asks.
#include <mpi.h>

#include "engine/termination.hpp"

extern "C" __attribute__((visibility("default"))) void forebay_write_out() {
  forebay::write_out_all(false);
}

extern "C" __attribute__((visibility("default"))) int MPI_Abort(MPI_Comm comm, int code) {
  forebay::write_out_all(false);
  return PMPI_Abort(comm, code);
}

extern "C" __attribute__((visibility("default"))) void mpi_abort_(MPI_Fint* comm, MPI_Fint* code,
                                                                  MPI_Fint* error) {
  forebay::write_out_all(false);
  *error = PMPI_Abort(MPI_Comm_f2c(*comm), *code);
}

// Its communicator is a derived type that holds the same number.
extern "C" __attribute__((visibility("default"))) void mpi_abort_f08_(MPI_Fint* comm, MPI_Fint* code,
                                                                      MPI_Fint* error) {
  forebay::write_out_all(false);
  const int failed = PMPI_Abort(MPI_Comm_f2c(*comm), *code);
  if (error != nullptr) *error = failed;
}
