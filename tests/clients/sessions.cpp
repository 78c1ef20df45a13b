// MPI sessions: a program that never calls MPI_Init, with PnetCDF or with HDF5.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "client_log.hpp"

#ifdef WITH_PNETCDF
#include <pnetcdf.h>
#else
#include <hdf5.h>
#endif

namespace {

constexpr int kEach = 2000;

#ifdef WITH_PNETCDF

void write_and_read(MPI_Comm comm, forebay::test::ClientLog& log, const std::vector<int>& mine) {
  int file = 0, dimension = 0, variable = 0;
  const auto must = [&](const char* what, int code) { log.must(what, code, ncmpi_strerror(code)); };
  must("create", ncmpi_create(comm, "sessions.nc", NC_CLOBBER, MPI_INFO_NULL, &file));
  must("dim", ncmpi_def_dim(file, "x", kEach * log.ranks(), &dimension));
  must("var", ncmpi_def_var(file, "a", NC_INT, 1, &dimension, &variable));
  must("enddef", ncmpi_enddef(file));
  MPI_Offset start = log.rank(), count = kEach, stride = log.ranks();
  must("put", ncmpi_put_vars_int_all(file, variable, &start, &count, &stride, mine.data()));
  std::vector<int> got(mine.size());
  must("get", ncmpi_get_vars_int_all(file, variable, &start, &count, &stride, got.data()));
  log.values("a", got, mine);
  must("close", ncmpi_close(file));
}

#else

void write_and_read(MPI_Comm comm, forebay::test::ClientLog& log, const std::vector<int>& mine) {
  const auto must = [&](const char* what, hid_t code) { log.must(what, code < 0 ? 1 : 0, "failed"); };
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  must("fapl", H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL));
  must("dxpl", H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
  const hid_t file = H5Fcreate("sessions.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  must("create", file);
  const hsize_t all = static_cast<hsize_t>(kEach * log.ranks()), start = static_cast<hsize_t>(log.rank()),
                stride = static_cast<hsize_t>(log.ranks()), count = kEach;
  const hid_t space = H5Screate_simple(1, &all, nullptr), memory = H5Screate_simple(1, &count, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(creation, false);  // runs are compared
  const hid_t data = H5Dcreate2(file, "a", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  must("dataset", data);
  must("select", H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, nullptr));
  must("write", H5Dwrite(data, H5T_NATIVE_INT, memory, space, transfer, mine.data()));
  std::vector<int> got(mine.size());
  must("read", H5Dread(data, H5T_NATIVE_INT, memory, space, transfer, got.data()));
  log.values("a", got, mine);
  void* handle = nullptr;
  MPI_Offset bytes = 0;
  must("handle", H5Fget_vfd_handle(file, access, &handle));
  if (handle != nullptr && MPI_File_get_size(*static_cast<MPI_File*>(handle), &bytes) != MPI_SUCCESS)
    must("size", -1);
  must("atomicity", H5Fset_mpi_atomicity(file, true));
  H5Dclose(data);
  H5Pclose(creation);
  H5Sclose(memory);
  H5Sclose(space);
  must("close", H5Fclose(file));
  H5Pclose(transfer);
  H5Pclose(access);
  H5close();
}

#endif

}  // namespace

int main() {
#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS ||
      MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS ||
      MPI_Comm_create_from_group(group, "forebay", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) != MPI_SUCCESS) {
    std::puts("MPI has no sessions here");
    return 77;
  }
  MPI_File file;
  int failed = MPI_File_open(comm, "sessions", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file) != MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
  if (failed != 0) {
    std::puts("MPI-IO does not work in MPI sessions here: ROMIO needs MPI_COMM_SELF");
    return 77;
  }
  MPI_File_close(&file);
  int status = 0;
  {
    forebay::test::ClientLog log(comm);
    std::vector<int> mine(kEach);
    for (int i = 0; i < kEach; ++i)
      mine[static_cast<std::size_t>(i)] = 1000000 + i * log.ranks() + log.rank();
    write_and_read(comm, log, mine);
    status = log.finish();
  }
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return status;
#else
  (void)write_and_read;
  std::puts("MPI has no sessions here");
  return 77;
#endif
}
