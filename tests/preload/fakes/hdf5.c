// A stand-in for an HDF5 library, which tells what reaches it. NAME is its name; SERIAL leaves out what needs
// MPI.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

int H5open(void) {
  return 0;
}

int64_t H5Fcreate(const char* path, unsigned flags, int64_t fcpl, int64_t fapl) {
  printf("%s: create %s %u %lld %lld\n", NAME, path, flags, (long long)fcpl, (long long)fapl);
  return 12345678901;
}

int64_t H5Pget_driver(int64_t fapl) {
  printf("%s: get_driver %lld\n", NAME, (long long)fapl);
  return 7;
}

#ifndef SERIAL
extern int PMPI_Init(int*, char***);

int H5Pset_fapl_mpio(int64_t fapl, uintptr_t comm, uintptr_t info) {
  if (fapl < 0) return PMPI_Init(NULL, NULL);  // keeps the MPI library needed
  printf("%s: set %lld %llx %llx\n", NAME, (long long)fapl, (unsigned long long)comm,
         (unsigned long long)info);
  return 3;
}

int H5Fset_mpi_atomicity(int64_t file, bool flag) {
  printf("%s: set atomicity %lld %d\n", NAME, (long long)file, flag);
  return 5;
}

int H5Fget_mpi_atomicity(int64_t file, bool* flag) {
  printf("%s: get atomicity %lld\n", NAME, (long long)file);
  *flag = true;
  return 6;
}

int H5Pget_fapl_mpio(int64_t fapl, uintptr_t* comm, uintptr_t* info) {
  *comm = 1;
  *info = 2;
  printf("%s: get %lld\n", NAME, (long long)fapl);
  return 4;
}
#endif
