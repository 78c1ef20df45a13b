// Metadata, communicators, re-opening, atomic mode: everything about files that is not a selection.
#include <fcntl.h>
#include <semaphore.h>

#include <cstring>
#include <string>
#include <vector>

#include "harness.hpp"

using namespace test;

namespace {

Id rows_of(const Run& run, const Id& extent, int rank) {
  hsize_t dims[2];
  H5Sget_simple_extent_dims(extent, dims, nullptr);
  Id mine(H5Scopy(extent));
  const hsize_t share = dims[0] / static_cast<hsize_t>(run.ranks);
  const hsize_t start[] = {share * static_cast<hsize_t>(rank), 0};
  const hsize_t count[] = {share, dims[1]};
  CHECK(H5Sselect_hyperslab(mine, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0);
  return mine;
}

void add_attribute(hid_t object, const std::string& name, int value) {
  const Id scalar(H5Screate(H5S_SCALAR));
  const Id attribute(H5Acreate2(object, name.c_str(), H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT));
  CHECK(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT, &value) >= 0);
}

void groups_and_attributes(const Run& run, const Id& fapl, hid_t fcpl = H5P_DEFAULT) {
  const Id file = run.create(fapl, fcpl);
  const Id extent = space({14, 6});
  const Id gcpl(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(gcpl, false);
  for (int g = 0; g < 120; ++g) {
    const Id group(H5Gcreate2(file, ("group" + std::to_string(g)).c_str(), H5P_DEFAULT, gcpl, H5P_DEFAULT));
    CHECK(group >= 0);
    for (int a = 0; a < 3; ++a) add_attribute(group, "attribute" + std::to_string(a), g * 10 + a);
    if (g % 10 != 0) continue;
    const Id set = dataset(group, "data", H5T_NATIVE_INT, extent);
    write_selected(set, rows_of(run, extent, run.rank), collective(), static_cast<unsigned>(g));
  }
  for (int a = 0; a < 100; ++a)
    add_attribute(file, "root" + std::to_string(a), a);  // dense storage of attributes
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  for (int g = 0; g < 120; g += 7)
    CHECK(H5Ldelete(file, ("group" + std::to_string(g)).c_str(), H5P_DEFAULT) >= 0);
}

}  // namespace

CASE(groups_and_attributes_by_the_hundred) {
  groups_and_attributes(run, run.access());
}

CASE(collective_metadata) {
  const Id fapl = run.access();
  CHECK(H5Pset_coll_metadata_write(fapl, true) >= 0);
  CHECK(H5Pset_all_coll_metadata_ops(fapl, true) >= 0);
  groups_and_attributes(run, fapl);
  const Id file = run.open(fapl, H5F_ACC_RDONLY);
  int sum = 0;
  for (int a = 0; a < 100; ++a) {
    const Id attribute(H5Aopen(file, ("root" + std::to_string(a)).c_str(), H5P_DEFAULT));
    int value = 0;
    CHECK(H5Aread(attribute, H5T_NATIVE_INT, &value) >= 0);
    sum += value;
  }
  CHECK(sum == 4950);
}

CASE(latest_format) {
  const Id fapl = run.access();
  CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
  const Id fcpl(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(fcpl, false);  // the root group's header holds times in this format
  groups_and_attributes(run, fapl, fcpl);
}

CASE(user_block_and_alignment) {
  // The base address is not 0: offsets in callbacks have to be taken as they are.
  const Id fapl = run.access();
  CHECK(H5Pset_alignment(fapl, 1000, 1024) >= 0);
  const Id fcpl(H5Pcreate(H5P_FILE_CREATE));
  CHECK(H5Pset_userblock(fcpl, 2048) >= 0);
  H5Pset_obj_track_times(fcpl, false);
  const Id extent = space({64, 64});
  {
    const Id file = run.create(fapl, fcpl);
    const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
    write_selected(set, rows_of(run, extent, run.rank), collective());
    write_selected(set, rows_of(run, extent, (run.rank + 1) % run.ranks), transfer(H5FD_MPIO_INDEPENDENT));
    const Id off = collective();
    H5Pset_selection_io(off, H5D_SELECTION_IO_MODE_OFF);
    const Id other = dataset(file, "other", H5T_NATIVE_INT, extent);
    write_selected(other, rows_of(run, extent, run.rank), off);
  }
  const Id file = run.open(fapl);
  const Id set(H5Dopen2(file, "other", H5P_DEFAULT));
  check_selected(set, rows_of(run, extent, (run.rank + 1) % run.ranks), collective());
}

CASE(re_opened_and_extended) {
  const Id fapl = run.access();
  const Id extent = space({28, 33});
  for (int pass = 0; pass < 4; ++pass) {
    const Id file = pass == 0 ? run.create(fapl) : run.open(fapl);
    const Id set = dataset(file, "set" + std::to_string(pass), H5T_NATIVE_INT, extent);
    write_selected(set, rows_of(run, extent, run.rank), collective(), static_cast<unsigned>(pass));
    if (pass == 0) continue;
    const Id before(H5Dopen2(file, ("set" + std::to_string(pass - 1)).c_str(), H5P_DEFAULT));
    check_selected(before, rows_of(run, extent, (run.rank + 1) % run.ranks), collective(),
                   static_cast<unsigned>(pass - 1));
  }
}

CASE(flush_and_read_on_another_rank) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({42, 50});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  write_selected(set, rows_of(run, extent, run.rank), transfer(H5FD_MPIO_INDEPENDENT));
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  check_selected(set, rows_of(run, extent, (run.rank + 1) % run.ranks), transfer(H5FD_MPIO_INDEPENDENT));
  write_selected(set, rows_of(run, extent, (run.rank + 1) % run.ranks), collective(), 9);
  check_selected(set, rows_of(run, extent, run.rank), collective(), 9);
}

CASE(two_files_at_once) {
  const Id fapl = run.access();
  const Id extent = space({28, 40});
  const Id first = run.create(fapl);
  const std::string name = run.path + ".second";
  {
    const Id second(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    CHECK(second >= 0);
    for (unsigned k = 0; k < 3; ++k) {
      const Id a = dataset(first, "set" + std::to_string(k), H5T_NATIVE_INT, extent);
      const Id b = dataset(second, "set" + std::to_string(k), H5T_NATIVE_INT, extent);
      write_selected(a, rows_of(run, extent, run.rank), collective(), k);
      write_selected(b, rows_of(run, extent, run.rank), collective(), k + 10);
      check_selected(a, rows_of(run, extent, (run.rank + 1) % run.ranks), collective(), k);
      check_selected(b, rows_of(run, extent, (run.rank + 1) % run.ranks), collective(), k + 10);
    }
  }
  CHECK(H5Fdelete(name.c_str(), fapl) >= 0);
  if (FILE* left = std::fopen(name.c_str(), "rb")) {
    CHECK(!"the deleted file is gone");
    std::fclose(left);
  }
}

CASE(a_file_for_each_rank) {
  const Id fapl = run.access(MPI_COMM_SELF);
  const std::string name = run.path + ".rank" + std::to_string(run.rank);
  const Id extent = space({30, 20});
  {
    const Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    CHECK(file >= 0);
    const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
    for (int pass = 0; pass <= run.rank; ++pass)
      write_selected(set, extent, collective(), static_cast<unsigned>(pass));
  }
  {
    const Id file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, fapl));
    const Id set(H5Dopen2(file, "data", H5P_DEFAULT));
    check_selected(set, extent, collective(), static_cast<unsigned>(run.rank));
  }
  CHECK(H5Fdelete(name.c_str(), fapl) >= 0);
  // For the comparison of files, what rank 0 alone writes on a communicator of its own.
  if (run.rank != 0) return;
  const Id file = run.create(fapl);
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  write_selected(set, extent, collective());
}

CASE(part_of_the_ranks) {
  const int color = run.rank % 2;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(run.comm, color, -run.rank, &half);
  Run mine = run;
  mine.comm = half;
  MPI_Comm_rank(half, &mine.rank);
  MPI_Comm_size(half, &mine.ranks);
  if (color == 1) mine.path += ".odd";
  const Id fapl = mine.access();
  const Id extent = space({48, 10});
  {
    const Id file = mine.create(fapl);
    const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
    write_selected(set, rows_of(mine, extent, mine.rank), collective());
    check_selected(set, rows_of(mine, extent, (mine.rank + 1) % mine.ranks), collective());
  }
  if (color == 1) CHECK(H5Fdelete(mine.path.c_str(), fapl) >= 0);
  MPI_Comm_free(&half);
}

CASE(atomic_mode) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({56, 30});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  CHECK(H5Fset_mpi_atomicity(file, true) >= 0);
  hbool_t atomic = false;
  CHECK(H5Fget_mpi_atomicity(file, &atomic) >= 0 && atomic);
  Id columns(H5Scopy(extent));
  const hsize_t start[] = {0, static_cast<hsize_t>(run.rank)};
  const hsize_t stride[] = {1, static_cast<hsize_t>(run.ranks)};
  const hsize_t count[] = {56, 30 / static_cast<hsize_t>(run.ranks)};
  H5Sselect_hyperslab(columns, H5S_SELECT_SET, start, stride, count, nullptr);
  write_selected(set, columns, collective());
  check_selected(set, columns, collective());
  MPI_Barrier(run.comm);
  const Id mine = rows_of(run, extent, run.rank);
  write_selected(set, mine, transfer(H5FD_MPIO_INDEPENDENT), 3);
  MPI_Barrier(run.comm);
  check_selected(set, rows_of(run, extent, (run.rank + 1) % run.ranks), transfer(H5FD_MPIO_INDEPENDENT), 3);
  // One rank writes all, the others read all at once: they see all of it or nothing.
  const Id other = dataset(file, "other", H5T_NATIVE_INT, extent);
  Id all(H5Scopy(extent));
  if (run.rank != 0) H5Sselect_none(all);
  write_selected(other, all, collective(), 4);
  H5Sselect_all(all);
  check_selected(other, all, collective(), 4);
  CHECK(H5Fset_mpi_atomicity(file, false) >= 0);
  write_selected(other, mine, collective(), 5);
}

CASE(file_handle_of_a_locked_name) {
  // What a process leaves that is killed while Open MPI's I/O opens a file of this name.
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({28, 16});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  write_selected(set, rows_of(run, extent, run.rank), collective());
  const std::string locked = "/OMPIO_" + run.path.substr(run.path.rfind('/') + 1);
  sem_t* semaphore = run.rank == 0 ? sem_open(locked.c_str(), O_CREAT, 0600, 0) : SEM_FAILED;
  MPI_Barrier(run.comm);
  void* handle = nullptr;
  CHECK(H5Fget_vfd_handle(file, fapl, &handle) >= 0 && handle != nullptr);
  const haddr_t at = H5Dget_offset(set);
  int value = -1;
  CHECK(MPI_File_read_at(*static_cast<MPI_File*>(handle), static_cast<MPI_Offset>(at), &value, 1, MPI_INT,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(value == value_of(0));
  MPI_Barrier(run.comm);
  if (semaphore != SEM_FAILED) {
    sem_close(semaphore);
    sem_unlink(locked.c_str());
  }
}

CASE(handle_of_the_file) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({28, 16});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  write_selected(set, rows_of(run, extent, run.rank), collective());
  // The rank that asks has what its own node keeps written; other nodes keep nothing of a collective write.
  void* handle = nullptr;
  CHECK(H5Fget_vfd_handle(file, fapl, &handle) >= 0 && handle != nullptr);
  MPI_Offset size = 0;
  CHECK(MPI_File_get_size(*static_cast<MPI_File*>(handle), &size) == MPI_SUCCESS && size >= 28 * 16 * 4);
  const haddr_t at = H5Dget_offset(set);
  int value = -1;
  CHECK(MPI_File_read_at(*static_cast<MPI_File*>(handle), static_cast<MPI_Offset>(at), &value, 1, MPI_INT,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(value == value_of(0));
  // An access list taken from the file opens it again.
  const Id again(H5Fget_access_plist(file));
  CHECK(again >= 0);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  CHECK(H5Pget_mpi_params(again, &comm, &info) >= 0 && comm != MPI_COMM_NULL && info != MPI_INFO_NULL);
  int equal = MPI_UNEQUAL;
  MPI_Comm_compare(comm, run.comm, &equal);
  CHECK(equal == MPI_CONGRUENT);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
}

CASE(opened_once_more) {
  const Id fapl = run.access();
  const Id extent = space({static_cast<hsize_t>(run.ranks) * 500});
  {
    const Id file = run.create(fapl);
    const Id dcpl(H5Pcreate(H5P_DATASET_CREATE));  // no fill values, which would be in the file at once
    H5Pset_obj_track_times(dcpl, false);
    const Id set(H5Dcreate2(file, "data", H5T_NATIVE_INT, extent, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    write_selected(set, extent, collective());
    // There is data in the file, and no superblock yet.
    hid_t again = H5I_INVALID_HID;
    htri_t accessible = 1;
    H5E_BEGIN_TRY {
      again = H5Fopen(run.path.c_str(), H5F_ACC_RDWR, fapl);
      accessible = H5Fis_accessible(run.path.c_str(), fapl);
    }
    H5E_END_TRY
    CHECK(again < 0 && accessible <= 0);
    if (again >= 0) H5Fclose(again);
  }
  const Id file = run.open(fapl, H5F_ACC_RDONLY);
  const Id set(H5Dopen2(file, "data", H5P_DEFAULT));
  if (CHECK(set >= 0)) check_selected(set, extent, collective());
}

CASE(far_offsets) {
  // A sparse file of more than 4 GiB; nothing but what is written exists, so only that is looked at.
  const Id fapl = run.access();
  const hsize_t rows = static_cast<hsize_t>(run.ranks) * 20;
  const hsize_t width = hsize_t{5} << 30;
  const Id extent = space({rows, width / rows});
  const Id dcpl = creation();
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
  {
    const Id file = run.create(fapl);
    const Id set = dataset(file, "data", H5T_NATIVE_INT, extent, dcpl);
    std::vector<int> values(20 * 3 * 50);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(i, static_cast<unsigned>(run.rank));
    Id mine(H5Scopy(extent));
    const hsize_t start[] = {static_cast<hsize_t>(run.rank), 17};
    const hsize_t stride[] = {static_cast<hsize_t>(run.ranks), width / rows / 3};
    const hsize_t count[] = {20, 3};
    const hsize_t block[] = {1, 50};
    H5Sselect_hyperslab(mine, H5S_SELECT_SET, start, stride, count, block);
    const Id memory = space({values.size()});
    CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, mine, collective(), values.data()) >= 0);
    std::vector<int> back(values.size(), -1);
    CHECK(H5Dread(set, H5T_NATIVE_INT, memory, mine, collective(), back.data()) >= 0);
    CHECK(back == values);
  }
  CHECK(H5Fdelete(run.path.c_str(), fapl) >= 0);
}
