/* Writes a variable through PnetCDF with Forebay's driver linked before it, and reads it back. That the
 * driver was active shows in the report that the test asks for. */
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                        \
  do {                                                                     \
    int status_ = (call);                                                  \
    if (status_ != NC_NOERR) {                                             \
      fprintf(stderr, "line %d: %s\n", __LINE__, ncmpi_strerror(status_)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                        \
    }                                                                      \
  } while (0)

enum { PER_RANK = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0, file, dim, var;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* path = argc > 1 ? argv[1] : "installed.nc";

  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "x", (MPI_Offset)PER_RANK * size, &dim));
  CHECK(ncmpi_def_var(file, "x", NC_INT, 1, &dim, &var));
  CHECK(ncmpi_enddef(file));
  MPI_Offset start = rank, count = PER_RANK, stride = size;
  int values[PER_RANK];
  for (int i = 0; i < PER_RANK; i++) values[i] = i * size + rank;
  CHECK(ncmpi_put_vars_int_all(file, var, &start, &count, &stride, values));
  CHECK(ncmpi_close(file));

  int* all = malloc(sizeof(int) * PER_RANK * size);
  CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  CHECK(ncmpi_get_var_int_all(file, var, all));
  CHECK(ncmpi_close(file));
  for (int i = 0; i < PER_RANK * size; i++) wrong += all[i] != i;
  free(all);
  if (wrong) fprintf(stderr, "rank %d: %d values are wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
