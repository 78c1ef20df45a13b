// Habits of programs that call parallel HDF5 themselves: hdf5_habits open_first (H5open before MPI_Init), or
// left_open (nothing is closed: MPI_Finalize does that). Each also asks what driver it has, and opens files
// by what it is told.
#include <hdf5.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "client_log.hpp"

using forebay::test::ClientLog;

namespace {

constexpr hsize_t kRows = 40, kColumns = 30;

hid_t create(const std::string& name, hid_t fapl) {
  const hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_obj_track_times(fcpl, false);
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, fcpl, fapl);
  H5Pclose(fcpl);
  return file;
}

/// A dataset of which rank r writes every ranks-th row, one call a row.
hid_t write(hid_t file, const char* name, hid_t dxpl, bool chunked, int rank, int ranks) {
  const hsize_t dims[] = {kRows, kColumns}, chunk[] = {7, 11}, row[] = {1, kColumns};
  const hid_t space = H5Screate_simple(2, dims, nullptr), memory = H5Screate_simple(2, row, nullptr);
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(dcpl, false);
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
  if (chunked) H5Pset_chunk(dcpl, 2, chunk);
  const hid_t set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  for (hsize_t r = 0; r < kRows; r += static_cast<hsize_t>(ranks)) {
    const hsize_t mine = r + static_cast<hsize_t>(rank), start[] = {mine, 0};
    std::vector<int> values(kColumns);
    for (hsize_t c = 0; c < kColumns; ++c) values[c] = static_cast<int>(mine * kColumns + c);
    if (mine < kRows) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, row, nullptr);
      H5Sselect_all(memory);
    } else {
      H5Sselect_none(space);
      H5Sselect_none(memory);
    }
    H5Dwrite(set, H5T_NATIVE_INT, memory, space, dxpl, values.data());
  }
  H5Pclose(dcpl);
  H5Sclose(memory);
  H5Sclose(space);
  return set;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "open_first") H5open();
  MPI_Init(&argc, &argv);
  int result = 0;
  {
    ClientLog log(MPI_COMM_WORLD);
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    log.line(H5Pget_driver(fapl) == H5FD_MPIO ? "the list selects mpio" : "the list selects another driver");
    const hid_t first = create("first.h5", fapl);
    const hid_t own = H5Fget_access_plist(first);
    log.line(H5Pget_driver(own) == H5FD_MPIO ? "the file is on mpio" : "the file is on another driver");
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    const herr_t told = H5Pget_fapl_mpio(own, &comm, &info);
    int same = MPI_UNEQUAL;
    if (told >= 0) MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
    log.line(same == MPI_CONGRUENT ? "the same communicator" : "another communicator");
    const hid_t second = create("second.h5", own);  // by what the first file told
    const hid_t together = H5Pcreate(H5P_DATASET_XFER), alone = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
    H5Pset_dxpl_mpio(alone, H5FD_MPIO_COLLECTIVE);
    H5Pset_dxpl_mpio_collective_opt(alone, H5FD_MPIO_INDIVIDUAL_IO);
    std::vector<hid_t> sets;
    for (const hid_t file : {first, second}) {
      sets.push_back(write(file, "independent", H5P_DEFAULT, false, log.rank(), log.ranks()));
      sets.push_back(write(file, "collective", together, true, log.rank(), log.ranks()));
      sets.push_back(write(file, "individual", alone, false, log.rank(), log.ranks()));
    }
    if (told >= 0) {
      MPI_Comm_free(&comm);
      MPI_Info_free(&info);
    }
    if (how != "left_open") {
      for (const hid_t set : sets) H5Dclose(set);
      for (const hid_t list : {together, alone, own, fapl}) H5Pclose(list);
      for (const hid_t file : {first, second}) H5Fclose(file);
    }
    result = log.finish();
  }
  MPI_Finalize();
  return result;
}
