// MPI_Abort ends a program without closing its files: what a driver still keeps is written before. Fortran's
// bindings do not come by the C function, so they are met by themselves.
#include <stdint.h>

#include <dlfcn.h>

#include "driver.hpp"
#include "export.hpp"
#include "process.hpp"

namespace forebay::preload {
namespace {

template <class Function>
Function next(const char* name, const void* caller) {
  write_out_drivers();
  const Definition stock = find_definition(name, caller);
  return reinterpret_cast<Function>(stock.address());
}

}  // namespace
}  // namespace forebay::preload

using namespace forebay::preload;

extern "C" {

FOREBAY_PRELOAD_EXPORT int MPI_Abort(uintptr_t comm, int code) {
  const auto stock = next<int (*)(uintptr_t, int)>("MPI_Abort", __builtin_return_address(0));
  return stock != nullptr ? stock(comm, code) : -1;
}

FOREBAY_PRELOAD_EXPORT void mpi_abort_(int* comm, int* code, int* error) {
  const auto stock = next<void (*)(int*, int*, int*)>("mpi_abort_", __builtin_return_address(0));
  if (stock != nullptr) stock(comm, code, error);
}

FOREBAY_PRELOAD_EXPORT void mpi_abort_f08_(void* comm, int* code, int* error) {
  const auto stock = next<void (*)(void*, int*, int*)>("mpi_abort_f08_", __builtin_return_address(0));
  if (stock != nullptr) stock(comm, code, error);
}

}  // extern "C"
