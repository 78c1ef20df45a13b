// A program with a PnetCDF and an HDF5 file, which ends with one number kept of each: two_libraries pnetcdf|hdf5 HOW,
// the former being the file that is there first. It knows nothing of Forebay.
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <signal.h>

#include <string>

namespace {

constexpr int kValue = 0x11223344;

void keep_by_pnetcdf() {
  int file = 0, x = 0, variable = 0;
  ncmpi_create(MPI_COMM_WORLD, "two.nc", NC_CLOBBER, MPI_INFO_NULL, &file);
  ncmpi_def_dim(file, "x", 1000, &x);
  ncmpi_def_var(file, "v", NC_INT, 1, &x, &variable);
  ncmpi_enddef(file);
  const MPI_Offset start = 3, count = 1;
  ncmpi_put_vara_int_all(file, variable, &start, &count, &kValue);
}

void keep_by_hdf5() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate("two.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t extent = 1000, start = 5, count = 1;
  const hid_t space = H5Screate_simple(1, &extent, nullptr), memory = H5Screate_simple(1, &count, nullptr);
  const hid_t set = H5Dcreate2(file, "v", H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
  H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &kValue);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string first = argc > 1 ? argv[1] : "", how = argc > 2 ? argv[2] : "";
  if (first == "pnetcdf") keep_by_pnetcdf();
  keep_by_hdf5();
  if (first != "pnetcdf") keep_by_pnetcdf();
  if (how == "signal") ::raise(SIGTERM);
  if (how == "abort") MPI_Abort(MPI_COMM_WORLD, 7);
  return 0;
}
