// The stand-ins as parts of an executable.
#define NAME "static hdf5"
#include "hdf5.c"
#undef NAME
#define NAME "static pnetcdf"
#define VERSION "1.14.0"
#include "mpi.c"
#include "pnetcdf.c"
