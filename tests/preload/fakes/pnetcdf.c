// A stand-in for a PnetCDF library, which tells whose table it works with. HIDDEN: as from 1.15 on, its
// driver is its own affair.
#include <stdint.h>
#include <stdio.h>

extern int PMPI_Init(int*, char***);

static const char* const table = NAME;

#ifdef HIDDEN
__attribute__((visibility("hidden")))
#endif
const void*
ncmpio_inq_driver(void) {
  return table;
}

const char* ncmpi_inq_libvers(void) {
  return VERSION " of today";
}

static int use(const char* what, uintptr_t comm, const char* path, int mode, uintptr_t info, int* ncid) {
  if (mode < 0) return PMPI_Init(NULL, NULL);  // keeps the MPI library needed
  const char* driver = ncmpio_inq_driver();
  printf("%s: %s %s %d %llx %llx with %s\n", NAME, what, path, mode, (unsigned long long)comm,
         (unsigned long long)info, driver != NULL ? driver : "nothing");
  *ncid = 5;
  return 0;
}

int ncmpi_create(uintptr_t comm, const char* path, int mode, uintptr_t info, int* ncid) {
  return use("create", comm, path, mode, info, ncid);
}

int ncmpi_open(uintptr_t comm, const char* path, int mode, uintptr_t info, int* ncid) {
  return use("open", comm, path, mode, info, ncid);
}
