// Rank 0 has no data, and cannot write the header's number of records: every rank must hear of it, and nobody
// may be told of records that are not in the file.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAIL %s\n", what);
}

MPI_Offset records(int file) {
  MPI_Offset size = -1;
  ncmpi_inq_dimlen(file, 0, &size);
  return size;
}

void run(const std::string& hints, bool fails) {
  setenv("FOREBAY_HINTS", hints.c_str(), 1);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  constexpr int length = 400000;  // long enough to be written by its own rank
  const char* path = "failing_count.nc";
  int file = -1, dims[2], variable = -1, request = NC_REQ_NULL, status = NC_NOERR;
  expect(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file) == NC_NOERR,
         "create");
  ncmpi_def_dim(file, "t", NC_UNLIMITED, &dims[0]);
  ncmpi_def_dim(file, "x", length, &dims[1]);
  ncmpi_def_var(file, "v", NC_DOUBLE, 2, dims, &variable);
  expect(ncmpi_enddef(file) == NC_NOERR, "enddef");

  const std::vector<double> values(length, 1.5);
  const MPI_Offset mine = rank == 1 ? 1 : 0;
  MPI_Offset start[2] = {0, 0}, count[2] = {mine, mine * length};
  int err = ncmpi_put_vara_double_all(file, variable, start, count, values.data());
  expect((err != NC_NOERR) == fails, "the put's error on every rank");
  expect(records(file) == (fails ? 0 : 1), "the number of records after the put");

  start[0] = 2;
  if (mine != 0) ncmpi_iput_vara_double(file, variable, start, count, values.data(), &request);
  err = ncmpi_wait_all(file, static_cast<int>(mine), &request, &status);
  expect((err != NC_NOERR) == fails, "the wait's error on every rank");
  expect(records(file) == (fails ? 0 : 3), "the number of records after the wait");
  expect(ncmpi_close(file) == NC_NOERR, "close");

  unsetenv("FOREBAY_HINTS");
  expect(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file) == NC_NOERR, "open");
  expect(records(file) == (fails ? 0 : 3), "the number of records in the file");
  ncmpi_close(file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run("", false);
  run("forebay_storage=failing;forebay_fail_rank=0;forebay_fail_after_bytes=0", true);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
