/* netCDF-C: netcdf_history FILE hdf5|pnetcdf RUN_BYTES VARIABLES STEPS [independent]. Each rank writes its
   columns of (time, level, column) record variables, 64 pieces of RUN_BYTES a call, in the netCDF-4 or the
   CDF-5 format. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s\n", nc_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, file, dims[3], vars[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 6 || atoi(argv[4]) > 64) MPI_Abort(MPI_COMM_WORLD, 2);
  const size_t levels = 64, width = strtoul(argv[3], NULL, 10) / sizeof(float);
  const int count = atoi(argv[4]), steps = atoi(argv[5]);
  const int access = argc > 6 && strcmp(argv[6], "independent") == 0 ? NC_INDEPENDENT : NC_COLLECTIVE;
  const int format = strcmp(argv[2], "hdf5") == 0 ? NC_NETCDF4 : NC_64BIT_DATA;
  float* data = malloc(levels * width * sizeof(float));

  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime(), slowest;
  must(nc_create_par(argv[1], format | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  /* The HDF5 format extends a record dimension only in collective calls. */
  must(nc_def_dim(file, "time", access == NC_COLLECTIVE ? NC_UNLIMITED : (size_t)steps, &dims[0]));
  must(nc_def_dim(file, "level", levels, &dims[1]));
  must(nc_def_dim(file, "column", width * ranks, &dims[2]));
  for (int k = 0; k < count; ++k) {
    char name[16];
    snprintf(name, sizeof name, "T%d", k);
    must(nc_def_var(file, name, NC_FLOAT, 3, dims, &vars[k]));
    must(nc_put_att_text(file, vars[k], "units", 1, "K"));
  }
  must(nc_enddef(file));
  for (int k = 0; k < count; ++k) must(nc_var_par_access(file, vars[k], access));
  for (int step = 0; step < steps; ++step) {
    for (int k = 0; k < count; ++k) {
      const size_t start[3] = {step, 0, width * rank}, size[3] = {1, levels, width};
      for (size_t i = 0; i < levels * width; ++i)
        data[i] = (float)(1000 * step + 100 * k + 10 * rank + i % 7);
      must(nc_put_vara_float(file, vars[k], start, size, data));
    }
  }
  must(nc_close(file));
  seconds += MPI_Wtime();
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("IO seconds %.6f\n", slowest);
  free(data);
  MPI_Finalize();
  return 0;
}
