// Calls libraries as a program does: one call for each argument. Built into an executable, and into a module
// that an interpreter loads for itself.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern int64_t H5Fcreate(const char*, unsigned, int64_t, int64_t);
extern int64_t H5Pget_driver(int64_t);
#ifndef SERIAL
extern int H5Pset_fapl_mpio(int64_t, uintptr_t, uintptr_t);
extern int H5Pget_fapl_mpio(int64_t, uintptr_t*, uintptr_t*);
extern int H5Fset_mpi_atomicity(int64_t, bool);
extern int H5Fget_mpi_atomicity(int64_t, bool*);
extern int ncmpi_create(uintptr_t, const char*, int, uintptr_t, int*);
extern int ncmpi_open(uintptr_t, const char*, int, uintptr_t, int*);

// All 64 bits of a handle must arrive.
static const uintptr_t comm = 0x1122334455667788;
static const uintptr_t info = 0x99aabbccddeeff00;
#endif

int make_calls(int count, char** names) {
  for (int i = 0; i < count; ++i) {
    const char* name = names[i];
    long long result = -99;
    if (strcmp(name, "h5create") == 0) result = H5Fcreate("f.h5", 2, 31, 32);
    if (strcmp(name, "h5driver") == 0) result = H5Pget_driver(33);
#ifndef SERIAL
    uintptr_t a = 0;
    uintptr_t b = 0;
    int ncid = 0;
    if (strcmp(name, "h5set") == 0) result = H5Pset_fapl_mpio(34, comm, info);
    if (strcmp(name, "h5get") == 0) result = H5Pget_fapl_mpio(35, &a, &b);
    bool atomic = false;
    if (strcmp(name, "h5atomic") == 0) result = H5Fset_mpi_atomicity(35, true);
    if (strcmp(name, "h5isatomic") == 0) result = 10 * H5Fget_mpi_atomicity(35, &atomic) + atomic;
    if (strcmp(name, "h5isnot") == 0) result = 10 * H5Fget_mpi_atomicity(36, &atomic) + atomic;
    if (strcmp(name, "nccreate") == 0) result = ncmpi_create(comm, "f.nc", 0, info, &ncid);
    if (strcmp(name, "ncopen") == 0) result = ncmpi_open(comm, "f.nc", 0, info, &ncid);
    if (strcmp(name, "ncwrite") == 0) result = ncmpi_open(comm, "f.nc", 1, info, &ncid);
#endif
    printf("%s gave %lld\n", name, result);
    fflush(stdout);
  }
  return 0;
}
