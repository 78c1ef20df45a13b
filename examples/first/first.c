/* Every rank writes its columns of a table, step by step: many small pieces, interleaved in the file. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { steps = 50, rows = 2000, columns = 8 }; /* of each rank and step: rows pieces of 64 bytes */

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  hid_t file = H5Fcreate("first.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);

  const hsize_t shape[2] = {rows, (hsize_t)ranks * columns}, mine[2] = {rows, columns};
  const hsize_t start[2] = {0, (hsize_t)rank * columns};
  hid_t in_file = H5Screate_simple(2, shape, NULL), in_memory = H5Screate_simple(2, mine, NULL);
  H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, mine, NULL);

  static double data[rows][columns];
  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    char name[32];
    snprintf(name, sizeof name, "step%d", step);
    hid_t set = H5Dcreate(file, name, H5T_NATIVE_DOUBLE, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) data[r][c] = step + 0.001 * r + rank;
    H5Dwrite(set, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, data);
    H5Dclose(set);
  }
  H5Fclose(file);
  if (rank == 0) printf("written in %.2f s\n", MPI_Wtime() - begin);

  H5Sclose(in_memory), H5Sclose(in_file), H5Pclose(transfer), H5Pclose(access);
  MPI_Finalize();
  return 0;
}
