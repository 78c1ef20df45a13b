// Writes and checks a small parallel HDF5 file: collective writes of cells dealt out to the ranks in turn.
#include <hdf5.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "probe.hpp"

namespace {

using namespace forebay::probe;

template <class Result>
Result must(Result result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

void print_hdf5() {
  unsigned version[3];
  H5get_libversion(&version[0], &version[1], &version[2]);
  const std::string text =
      std::to_string(version[0]) + "." + std::to_string(version[1]) + "." + std::to_string(version[2]);
  print_library(text.c_str(), reinterpret_cast<const void*>(&H5get_libversion));
}

void write(const char* path, bool select_mpio) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) print_hdf5();
  print_mpi(MPI_COMM_WORLD);

  const hid_t access = must(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  if (select_mpio) must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
  const hid_t file = must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  const hsize_t size[] = {steps, static_cast<hsize_t>(cells_per_rank) * static_cast<hsize_t>(ranks)};
  const hid_t space = must(H5Screate_simple(2, size, nullptr), "H5Screate_simple");
  const hid_t data = must(
      H5Dcreate2(file, "value", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Dcreate");
  const hid_t transfer = must(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
  must(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
  const hsize_t length = cells_per_rank;
  const hid_t memory = must(H5Screate_simple(1, &length, nullptr), "H5Screate_simple");
  for (int step = 0; step < steps; ++step) {
    std::vector<int> values;
    for (long long i = 0; i < cells_per_rank; ++i) values.push_back(value_of(i * ranks + rank, step));
    const hsize_t start[] = {static_cast<hsize_t>(step), static_cast<hsize_t>(rank)};
    const hsize_t stride[] = {1, static_cast<hsize_t>(ranks)};
    const hsize_t count[] = {1, cells_per_rank};
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr), "H5Sselect_hyperslab");
    must(H5Dwrite(data, H5T_NATIVE_INT, memory, space, transfer, values.data()), "H5Dwrite");
  }
  H5Sclose(memory);
  H5Pclose(transfer);
  must(H5Dclose(data), "H5Dclose");
  H5Sclose(space);
  must(H5Fclose(file), "H5Fclose");
  H5Pclose(access);
}

void check(const char* path) {
  const hid_t file = must(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), "H5Fopen");
  const hid_t data = must(H5Dopen2(file, "value", H5P_DEFAULT), "H5Dopen");
  const hid_t space = must(H5Dget_space(data), "H5Dget_space");
  hsize_t size[2];
  if (H5Sget_simple_extent_dims(space, size, nullptr) != 2 || size[0] != steps)
    fail("the dataset has another shape");
  std::vector<int> values(size[0] * size[1]);
  must(H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "H5Dread");
  for (hsize_t i = 0; i < values.size(); ++i) {
    if (values[i] != value_of(static_cast<long long>(i % size[1]), static_cast<int>(i / size[1]))) {
      fail("element " + std::to_string(i) + " is not what was written");
    }
  }
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string mode = argv[1];
  if (mode == "check") {
    check(argv[2]);
    return 0;
  }
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (mode != "write" && mode != "plugin") fail("write, plugin or check");
  write(argv[2], mode == "write");
  MPI_Finalize();
  return 0;
}
