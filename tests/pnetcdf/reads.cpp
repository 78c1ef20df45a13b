// Reads write nothing: not the number of records either, though PnetCDF's own driver does not know it.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  setenv("FOREBAY_STATS", "reads.json", 1);
  std::remove("reads.json");
  MPI_Init(&argc, &argv);
  int rank = 0, file = -1, time = -1, variable = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int err = ncmpi_create(MPI_COMM_WORLD, "reads.nc", NC_CLOBBER, MPI_INFO_NULL, &file);
  if (err == NC_NOERR) err = ncmpi_def_dim(file, "time", NC_UNLIMITED, &time);
  if (err == NC_NOERR) err = ncmpi_def_var(file, "x", NC_INT, 1, &time, &variable);
  if (err == NC_NOERR) err = ncmpi_enddef(file);
  const MPI_Offset start = 5, count = 1;
  const int put = 3;
  int got = 0;
  if (err == NC_NOERR) err = ncmpi_put_vara_int_all(file, variable, &start, &count, &put);
  for (int i = 0; i < 10 && err == NC_NOERR; ++i)
    err = ncmpi_get_vara_int_all(file, variable, &start, &count, &got);
  if (err == NC_NOERR) err = ncmpi_close(file);
  bool good = err == NC_NOERR && got == put;
  if (rank == 0) {
    std::ifstream in("reads.json");
    const std::string report{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    // The record by each rank, and the number of records; none is an independent write of the program.
    const std::size_t writes = report.find("\"file_writes\": {");
    good = good && report.find("\"independent_writes\": 0,") != std::string::npos &&
           writes != std::string::npos && report.find("\"count\": 3,", writes) < report.find('}', writes);
    if (!good) std::fprintf(stderr, "%s, %d, %s\n", ncmpi_strerrno(err), got, report.c_str());
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
