// MPI_Abort ends a program without closing its files: what is still kept is written before. This one is met
// by programs that are linked with a library of ours, or load it, before MPI; each library writes what is its
// own and calls the next one's. Where the shim loads a library, the shim asks.
#include <dlfcn.h>
#include <mpi.h>

#include "engine/termination.hpp"

#define FOREBAY_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <class Function>
Function next(const char* name) {
  forebay::write_out_for_abort();
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

using Fortran = void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*);

void from_fortran(const char* name, MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
  if (const auto abort = next<Fortran>(name); abort != nullptr) return abort(comm, code, error);
  const int failed = PMPI_Abort(MPI_Comm_f2c(*comm), *code);
  if (error != nullptr) *error = failed;
}

}  // namespace

FOREBAY_EXPORT void forebay_write_out() {
  forebay::write_out_for_abort();
}

FOREBAY_EXPORT int MPI_Abort(MPI_Comm comm, int code) {
  const auto abort = next<int (*)(MPI_Comm, int)>("MPI_Abort");
  return abort != nullptr ? abort(comm, code) : PMPI_Abort(comm, code);
}

FOREBAY_EXPORT void mpi_abort_(MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
  from_fortran("mpi_abort_", comm, code, error);
}

// Its communicator is a derived type that holds the same number.
FOREBAY_EXPORT void mpi_abort_f08_(MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
  from_fortran("mpi_abort_f08_", comm, code, error);
}
