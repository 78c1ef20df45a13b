// A file that the program opens once more while it has it open: the second one sees what the first has put,
// whatever Forebay keeps. And ranks that name different files.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

int failures = 0;
int rank = 0, ranks = 1;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "rank %d: FAIL %s\n", rank, what);
}

constexpr MPI_Offset each = 50;  // elements of a rank in a record

int value(MPI_Offset record, int of, MPI_Offset i) {
  return static_cast<int>(record * 100000 + of * 1000 + i);
}

void put(int file, MPI_Offset record) {
  const MPI_Offset start[] = {record, rank * each}, count[] = {1, each};
  std::vector<int> values;
  for (MPI_Offset i = 0; i < each; ++i) values.push_back(value(record, rank, i));
  expect(ncmpi_put_vara_int_all(file, 0, start, count, values.data()) == NC_NOERR, "put");
}

void see(const char* path, MPI_Offset records) {
  int file = -1;
  expect(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file) == NC_NOERR, "open once more");
  MPI_Offset found = -1;
  ncmpi_inq_dimlen(file, 0, &found);
  expect(found == records, "the number of records that the second one sees");
  if (found == records) {
    const int of = (rank + 1) % ranks;
    for (MPI_Offset record = 0; record < records; ++record) {
      const MPI_Offset start[] = {record, of * each}, count[] = {1, each};
      std::vector<int> values(each, -1);
      expect(ncmpi_get_vara_int_all(file, 0, start, count, values.data()) == NC_NOERR, "get");
      bool right = true;
      for (MPI_Offset i = 0; i < each; ++i)
        right = right && values[static_cast<std::size_t>(i)] == value(record, of, i);
      expect(right, "the values that the second one sees");
    }
  }
  expect(ncmpi_close(file) == NC_NOERR, "close of the second one");
}

void opened_again() {
  const char* path = "open_again.nc";
  int file = -1, dims[2], variable = -1;
  expect(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file) == NC_NOERR,
         "create");
  ncmpi_def_dim(file, "t", NC_UNLIMITED, &dims[0]);
  ncmpi_def_dim(file, "x", each * ranks, &dims[1]);
  ncmpi_def_var(file, "v", NC_INT, 2, dims, &variable);
  expect(ncmpi_enddef(file) == NC_NOERR, "enddef");
  for (MPI_Offset record = 0; record < 3; ++record) put(file, record);
  see(path, 3);
  int second = -1;
  expect(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &second) == NC_NOERR, "open to stay");
  for (MPI_Offset record = 3; record < 5; ++record) put(file, record);
  // While both are open nothing is kept.
  const MPI_Offset start[] = {2, 0}, count[] = {1, each};
  std::vector<int> values(each, -1);
  expect(ncmpi_get_vara_int_all(second, 0, start, count, values.data()) == NC_NOERR,
         "get from the one that stays");
  expect(values.back() == value(2, 0, each - 1), "a value from the one that stays");
  see(path, 5);
  expect(ncmpi_close(second) == NC_NOERR, "close of the one that stays");
  for (MPI_Offset record = 5; record < 7; ++record) put(file, record);
  see("./open_again.nc", 7);
  expect(ncmpi_close(file) == NC_NOERR, "close");
  see(path, 7);
}

void different_names() {
  if (ranks == 1) return;
  const std::string own = "own." + std::to_string(rank) + ".nc";
  int file = -1;
  expect(ncmpi_create(MPI_COMM_WORLD, own.c_str(), NC_CLOBBER, MPI_INFO_NULL, &file) == NC_EMULTIDEFINE,
         "create of different files");
  expect(ncmpi_open(MPI_COMM_WORLD, rank == 0 ? "open_again.nc" : own.c_str(), NC_NOWRITE, MPI_INFO_NULL,
                    &file) == NC_EMULTIDEFINE,
         "open of different files");
  // Different names of one file are no mistake.
  const int err = ncmpi_open(MPI_COMM_WORLD, rank == 0 ? "open_again.nc" : "./open_again.nc", NC_NOWRITE,
                             MPI_INFO_NULL, &file);
  expect(err == NC_NOERR, "open by different names");
  if (err == NC_NOERR) ncmpi_close(file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  opened_again();
  different_names();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
