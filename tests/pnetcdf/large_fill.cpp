// Fill values of more than 2^31 bytes on one rank, which PnetCDF refuses: at close in define mode, after
// redef for the records that are there, and by ncmpi_fill_var_rec. --all: also at enddef, and a record that
// is not there yet, 4 GiB more.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAIL %s\n", what);
}

constexpr MPI_Offset ints = (MPI_Offset{1} << 29) + 13;  // 2^31 + 52 bytes

// Reads all of it, a few MiB at a time, and counts what is not the fill value.
void all_filled(int file, int variable, MPI_Offset record, MPI_Offset elements, int fill, const char* what) {
  constexpr MPI_Offset part = 4 << 20;
  std::vector<int> values(part);
  MPI_Offset wrong = 0;
  int err = NC_NOERR;
  for (MPI_Offset at = 0; at < elements && err == NC_NOERR; at += part) {
    const MPI_Offset count = std::min(part, elements - at);
    const MPI_Offset starts[] = {record, at}, counts[] = {1, count};
    const int skip = record < 0 ? 1 : 0;
    std::fill(values.begin(), values.end(), ~fill);
    err = ncmpi_get_vara_int_all(file, variable, starts + skip, counts + skip, values.data());
    wrong += count - std::count(values.begin(), values.begin() + count, fill);
  }
  expect(err == NC_NOERR && wrong == 0, what);
}

void at_enddef() {
  int file = -1, n = -1, few = -1, variables[3];
  const int fill = -7;
  expect(ncmpi_create(MPI_COMM_WORLD, "large_fill.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file) ==
             NC_NOERR,
         "create");
  ncmpi_set_fill(file, NC_FILL, nullptr);
  ncmpi_def_dim(file, "n", ints, &n);
  ncmpi_def_dim(file, "few", 5, &few);
  ncmpi_def_var(file, "large", NC_INT, 1, &n, &variables[0]);
  ncmpi_def_var(file, "byte", NC_BYTE, 1, &few, &variables[1]);
  ncmpi_def_var(file, "own", NC_DOUBLE, 1, &few, &variables[2]);
  const double own = 0.1;
  ncmpi_def_var_fill(file, variables[2], NC_FILL, &own);
  ncmpi_def_var_fill(file, variables[0], NC_FILL, &fill);
  expect(ncmpi_enddef(file) == NC_NOERR, "enddef");
  int no_fill = -1, said = 0;
  ncmpi_inq_var_fill(file, variables[0], &no_fill, &said);
  expect(no_fill == NC_FILL && said == fill, "what the library says of the fill mode");
  all_filled(file, variables[0], -1, ints, fill, "the large variable");
  signed char bytes[5];
  double doubles[5];
  ncmpi_get_var_schar_all(file, variables[1], bytes);
  ncmpi_get_var_double_all(file, variables[2], doubles);
  expect(std::all_of(bytes, bytes + 5, [](int b) { return b == NC_FILL_BYTE; }), "the default value");
  expect(std::all_of(doubles, doubles + 5, [&](double d) { return d == own; }),
         "a value of the variable's own");
  expect(ncmpi_close(file) == NC_NOERR, "close");
  std::remove("large_fill.nc");
}

// Records of two variables, one of which comes later; and a close in define mode.
void records(bool grow) {
  int file = -1, dims[2], first = -1, later = -1;
  expect(ncmpi_create(MPI_COMM_WORLD, "large_records.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file) ==
             NC_NOERR,
         "create");
  ncmpi_def_dim(file, "t", NC_UNLIMITED, &dims[0]);
  ncmpi_def_dim(file, "n", ints, &dims[1]);
  ncmpi_def_var(file, "first", NC_INT, 1, dims, &first);
  expect(ncmpi_enddef(file) == NC_NOERR, "enddef");
  const MPI_Offset zero = 0, one = 1;
  const int put = 12;
  expect(ncmpi_put_vara_int_all(file, first, &zero, &one, &put) == NC_NOERR, "put");
  expect(ncmpi_redef(file) == NC_NOERR, "redef");
  ncmpi_def_var(file, "later", NC_INT, 2, dims, &later);
  ncmpi_def_var_fill(file, later, NC_FILL, nullptr);
  const double own = 0.1;
  int few = -1, doubles = -1;
  ncmpi_def_dim(file, "few", 5, &few);
  ncmpi_def_var(file, "own", NC_DOUBLE, 1, &few, &doubles);
  ncmpi_def_var_fill(file, doubles, NC_FILL, &own);
  expect(ncmpi_close(file) == NC_NOERR, "close in define mode");

  expect(ncmpi_open(MPI_COMM_WORLD, "large_records.nc", NC_WRITE, MPI_INFO_NULL, &file) == NC_NOERR, "open");
  all_filled(file, later, 0, 1000, NC_FILL_INT, "the record that was there");
  double values[5] = {};
  ncmpi_get_var_double_all(file, doubles, values);
  expect(std::all_of(values, values + 5, [&](double d) { return d == own; }),
         "a value of the variable's own");
  int got = 0;
  ncmpi_get_vara_int_all(file, first, &zero, &one, &got);
  expect(got == put, "what was put before");
  expect(ncmpi_redef(file) == NC_NOERR && ncmpi_def_var_fill(file, later, NC_FILL, nullptr) == NC_NOERR &&
             ncmpi_enddef(file) == NC_NOERR,
         "fill mode of a variable that is there");
  const MPI_Offset record = grow ? 1 : 0, place[] = {record, ints - 2}, element[] = {1, 1};
  if (!grow)
    expect(ncmpi_put_vara_int_all(file, later, place, element, &put) == NC_NOERR, "put over a fill value");
  expect(ncmpi_fill_var_rec(file, later, record) == NC_NOERR, "fill_var_rec");
  MPI_Offset count = 0;
  ncmpi_inq_dimlen(file, 0, &count);
  expect(count == record + 1, "the number of records");
  expect(ncmpi_close(file) == NC_NOERR, "close");
  expect(ncmpi_open(MPI_COMM_WORLD, "large_records.nc", NC_NOWRITE, MPI_INFO_NULL, &file) == NC_NOERR,
         "open to read");
  ncmpi_inq_dimlen(file, 0, &count);
  expect(count == record + 1, "the number of records in the file");
  const MPI_Offset starts[] = {record, ints - 3}, counts[] = {1, 3};
  int last[3] = {};
  ncmpi_get_vara_int_all(file, later, starts, counts, last);
  expect(last[0] == NC_FILL_INT && last[1] == NC_FILL_INT && last[2] == NC_FILL_INT,
         "the end of the record that was filled");
  expect(ncmpi_close(file) == NC_NOERR, "close");
  std::remove("large_records.nc");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  if (all) at_enddef();
  records(all);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
