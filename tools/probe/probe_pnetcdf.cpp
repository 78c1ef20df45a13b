// Writes and checks a small PnetCDF file: a record variable, cells dealt out to the ranks in turn,
// nonblocking.
#include <pnetcdf.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "probe.hpp"

namespace {

using namespace forebay::probe;

void must(int error, const char* what) {
  if (error != NC_NOERR) fail(std::string(what) + ": " + ncmpi_strerror(error));
}

void write(const char* path) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    std::string version = ncmpi_inq_libvers();  // "1.14.0 of …"
    version = version.substr(0, version.find(' '));
    print_library(version.c_str(), reinterpret_cast<const void*>(&ncmpi_inq_libvers));
  }
  print_mpi(MPI_COMM_WORLD);

  int file = 0;
  int dims[2];
  int variable = 0;
  must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "step", NC_UNLIMITED, &dims[0]), "def_dim");
  must(ncmpi_def_dim(file, "cell", static_cast<MPI_Offset>(cells_per_rank) * ranks, &dims[1]), "def_dim");
  must(ncmpi_def_var(file, "value", NC_INT, 2, dims, &variable), "def_var");
  must(ncmpi_enddef(file), "enddef");
  std::vector<std::vector<int>> values(steps);
  std::vector<int> requests(steps);
  for (int step = 0; step < steps; ++step) {
    const auto index = static_cast<std::size_t>(step);
    for (long long i = 0; i < cells_per_rank; ++i) values[index].push_back(value_of(i * ranks + rank, step));
    const MPI_Offset start[] = {step, rank};
    const MPI_Offset count[] = {1, cells_per_rank};
    const MPI_Offset stride[] = {1, ranks};
    must(ncmpi_iput_vars_int(file, variable, start, count, stride, values[index].data(), &requests[index]),
         "iput_vars");
  }
  std::vector<int> statuses(steps);
  must(ncmpi_wait_all(file, steps, requests.data(), statuses.data()), "wait_all");
  for (const int status : statuses) must(status, "wait_all");
  must(ncmpi_close(file), "close");
}

void check(const char* path) {
  int file = 0;
  int cell_dim = 0;
  int step_dim = 0;
  int variable = 0;
  MPI_Offset cells = 0;
  MPI_Offset found_steps = 0;
  must(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  must(ncmpi_inq_dimid(file, "cell", &cell_dim), "inq_dimid");
  must(ncmpi_inq_dimid(file, "step", &step_dim), "inq_dimid");
  must(ncmpi_inq_dimlen(file, cell_dim, &cells), "inq_dimlen");
  must(ncmpi_inq_dimlen(file, step_dim, &found_steps), "inq_dimlen");
  must(ncmpi_inq_varid(file, "value", &variable), "inq_varid");
  if (found_steps != steps) fail("the file has " + std::to_string(found_steps) + " records");
  std::vector<int> values(static_cast<std::size_t>(cells * steps));
  must(ncmpi_get_var_int_all(file, variable, values.data()), "get_var");
  for (MPI_Offset i = 0; i < cells * steps; ++i) {
    if (values[static_cast<std::size_t>(i)] != value_of(i % cells, static_cast<int>(i / cells))) {
      fail("element " + std::to_string(i) + " is not what was written");
    }
  }
  must(ncmpi_close(file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (std::strcmp(argv[1], "write") == 0) {
    write(argv[2]);
  } else if (std::strcmp(argv[1], "check") == 0) {
    check(argv[2]);
  } else {
    fail("write or check");
  }
  MPI_Finalize();
  return 0;
}
