/* Writes a dataset with Forebay's driver, one element in `size` from each rank, and reads it back with the
 * stock one. Compiled with -DPLUGIN it knows nothing of Forebay, and HDF5_DRIVER chooses the driver. */
#ifndef PLUGIN
#include <forebay/hdf5.h>
#endif
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                      \
  do {                                                   \
    if ((call) < 0) {                                    \
      fprintf(stderr, "line %d: %s\n", __LINE__, #call); \
      MPI_Abort(MPI_COMM_WORLD, 1);                      \
    }                                                    \
  } while (0)

enum { PER_RANK = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* path = argc > 1 ? argv[1] : "installed.h5";

  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
#ifndef PLUGIN
  H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
  CHECK(H5Pset_fapl_forebay(fapl, MPI_COMM_WORLD, MPI_INFO_NULL, &config));
  CHECK(H5Pget_driver(fapl) == H5FD_FOREBAY ? 0 : -1);
#endif
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  CHECK(file);
  hsize_t dims = (hsize_t)PER_RANK * size, start = rank, stride = size, count = PER_RANK;
  hid_t space = H5Screate_simple(1, &dims, NULL), memory = H5Screate_simple(1, &count, NULL);
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL));
  hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(set);
  hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
  CHECK(H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE));
  int values[PER_RANK];
  for (int i = 0; i < PER_RANK; i++) values[i] = i * size + rank;
  CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, space, dxpl, values));
  CHECK(H5Dclose(set));
  CHECK(H5Fclose(file));
  CHECK(H5Pclose(fapl));
  CHECK(H5Pclose(dxpl));

  if (rank == 0) {
    int* all = malloc(dims * sizeof(int));
    /* Not with the default list: HDF5_DRIVER makes that a collective one. */
    hid_t serial = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_sec2(serial));
    CHECK(file = H5Fopen(path, H5F_ACC_RDONLY, serial));
    CHECK(H5Pclose(serial));
    CHECK(set = H5Dopen2(file, "x", H5P_DEFAULT));
    CHECK(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all));
    for (hsize_t i = 0; i < dims; i++) wrong += all[i] != (int)i;
    CHECK(H5Dclose(set));
    CHECK(H5Fclose(file));
    free(all);
    if (wrong) fprintf(stderr, "%d values are wrong\n", wrong);
  }
  H5Sclose(space);
  H5Sclose(memory);
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong != 0;
}
