// A stand-in for Forebay's HDF5 driver, which tells what the shim hands it. REFUSES: a driver that cannot
// serve the library.
#include <stdint.h>
#include <stdio.h>

extern int H5open(void);
extern int PMPI_Init(int*, char***);

static int (*stock_set)(int64_t, uintptr_t, uintptr_t);
static int (*stock_get)(int64_t, uintptr_t*, uintptr_t*);

int forebay_hdf5_attach(void* set, void* get) {
  stock_set = (int (*)(int64_t, uintptr_t, uintptr_t))set;
  stock_get = (int (*)(int64_t, uintptr_t*, uintptr_t*))get;
  H5open();
  if (set == NULL) return PMPI_Init(NULL, NULL);
  printf("driver: attach\n");
#ifdef REFUSES
  return -1;
#else
  return 0;
#endif
}

const char* forebay_hdf5_refusal(void) {
  return "the fake driver does not like it";
}

int forebay_hdf5_set_fapl_mpio(int64_t fapl, uintptr_t comm, uintptr_t info) {
  printf("driver: set %lld %llx %llx\n", (long long)fapl, (unsigned long long)comm, (unsigned long long)info);
  return stock_set(fapl + 1, comm, info);
}

int forebay_hdf5_get_fapl_mpio(int64_t fapl, uintptr_t* comm, uintptr_t* info) {
  printf("driver: get %lld\n", (long long)fapl);
  return stock_get(fapl + 1, comm, info);
}

int forebay_hdf5_before_atomicity(int64_t file) {
  printf("driver: before atomicity %lld\n", (long long)file);
  return 0;
}

int forebay_hdf5_is_not_atomic(int64_t file) {
  printf("driver: is not atomic %lld\n", (long long)file);
  return file == 36;
}

int64_t forebay_hdf5_get_driver(int64_t fapl, int64_t stock_answer) {
  printf("driver: get_driver %lld\n", (long long)fapl);
  return stock_answer + 100;
}
