// A stand-in for Forebay's PnetCDF driver.
#include <dlfcn.h>
#include <stdio.h>

extern int PMPI_Init(int*, char***);

const void* forebay_pnetcdf_attach(void* stock_table, void* library_handle) {
  if (stock_table == NULL) PMPI_Init(NULL, NULL);
  const char* (*version)(void) = (const char* (*)(void))dlsym(library_handle, "ncmpi_inq_libvers");
  printf("driver: attach to %s of version %s\n", (const char*)stock_table,
         version != NULL ? version() : "unknown");
  return "Forebay";
}
