// Windows between nodes belong to libraries that each rank may have begun to use in another order, and all
// are freed in MPI_Finalize: it ends.
#include <forebay/file.h>
#include <hdf5.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void use_forebay(MPI_Comm comm, const std::string& path) {
  forebay_file file = FOREBAY_FILE_NULL;
  must(forebay_open(comm, path.c_str(), FOREBAY_RDWR | FOREBAY_CREATE, MPI_INFO_NULL, &file) == 0, "open");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  int values[100] = {rank};
  const int64_t shape[] = {800}, start[] = {rank * 100}, count[] = {100};
  forebay_request request{};
  request.size = sizeof request;
  request.element_bytes = sizeof(int);
  request.ndims = 1;
  request.shape = shape;
  request.start = start;
  request.count = count;
  request.memory = values;
  must(forebay_put_all(file, &request, 1) == 0, "put");
  must(forebay_close(&file) == 0, "close");
}

void use_hdf5(MPI_Comm comm, const std::string& path) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  must(H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL) >= 0, "access list");
  must(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE) >= 0, "transfer list");
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  must(file >= 0, "H5Fcreate");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const hsize_t size[] = {800}, start[] = {static_cast<hsize_t>(rank) * 100}, count[] = {100};
  const hid_t space = H5Screate_simple(1, size, nullptr), memory = H5Screate_simple(1, count, nullptr);
  const hid_t set = H5Dcreate2(file, "a", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  const int values[100] = {rank};
  must(H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, values) >= 0, "H5Dwrite");
  H5Dclose(set);
  H5Sclose(space);
  H5Sclose(memory);
  must(H5Fclose(file) >= 0, "H5Fclose");
  H5Pclose(access);
  H5Pclose(transfer);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string own = "finalize_order" + std::to_string(rank);
  rank % 2 == 0 ? use_forebay(MPI_COMM_SELF, own) : use_hdf5(MPI_COMM_SELF, own);
  use_hdf5(MPI_COMM_WORLD, "finalize_order.h5");
  use_forebay(MPI_COMM_WORLD, "finalize_order");
  MPI_Finalize();
  if (rank == 0) std::puts("finalized");
  return 0;
}
