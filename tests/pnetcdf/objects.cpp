// One file that each rank has opened for itself, and to which all put at once, each other elements of the
// same blocks.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr MPI_Offset each = 2000, calls = 12;
const char* const path = "objects.nc";

void must(int err, const char* what) {
  if (err == NC_NOERR) return;
  std::fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(err));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void create(MPI_Offset all) {
  int file = -1, dim = -1, variable = -1;
  must(ncmpi_create(MPI_COMM_SELF, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "n", all, &dim), "def_dim");
  must(ncmpi_def_var(file, "a", NC_INT, 1, &dim, &variable), "def_var");
  must(ncmpi_enddef(file), "enddef");
  const std::vector<int> old(static_cast<std::size_t>(all), -7);
  const MPI_Offset start = 0;
  must(ncmpi_put_vara_int_all(file, variable, &start, &all, old.data()), "put");
  must(ncmpi_close(file), "close");
}

int lost_of(MPI_Offset all) {
  int file = -1, lost = 0;
  std::vector<int> got(static_cast<std::size_t>(all));
  const MPI_Offset start = 0;
  must(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  must(ncmpi_get_vara_int_all(file, 0, &start, &all, got.data()), "get");
  must(ncmpi_close(file), "close");
  for (MPI_Offset i = 0; i < all; ++i) lost += got[static_cast<std::size_t>(i)] == i ? 0 : 1;
  return lost;
}

// Left to PnetCDF's own driver in strict mode.
void put_one(int file, MPI_Offset at, int value) {
  const MPI_Offset one = 1;
  must(ncmpi_put_vara_int(file, 0, &at, &one, &value), "put_vara");
}

int run(bool independent, MPI_Comm comm) {
  int rank = 0, ranks = 1, file = -1, lost = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const MPI_Offset all = each * calls * ranks;
  if (rank == 0) create(all);
  MPI_Barrier(MPI_COMM_WORLD);
  must(ncmpi_open(comm, path, NC_WRITE, MPI_INFO_NULL, &file), "open");
  if (independent) must(ncmpi_begin_indep_data(file), "begin_indep_data");
  const auto put = independent ? ncmpi_put_vars_int : ncmpi_put_vars_int_all;
  for (MPI_Offset call = 0; call < calls; ++call) {
    std::vector<int> mine(each);
    for (MPI_Offset i = 0; i < each; ++i)
      mine[static_cast<std::size_t>(i)] = static_cast<int>((call * each + i) * ranks + rank);
    const MPI_Offset start = call * each * ranks + rank, count = each, stride = ranks;
    if (independent) MPI_Barrier(MPI_COMM_WORLD);  // all in one block
    if (independent && (call + rank) % 3 == 0) {
      for (MPI_Offset i = 0; i < each; ++i)
        put_one(file, start + i * ranks, mine[static_cast<std::size_t>(i)]);
      continue;
    }
    must(put(file, 0, &start, &count, &stride, mine.data()), "put_vars");
  }
  if (independent) must(ncmpi_end_indep_data(file), "end_indep_data");
  must(ncmpi_close(file), "close");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) lost = lost_of(all);
  MPI_Bcast(&lost, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0 && lost > 0) std::printf("%s: %d lost\n", independent ? "independent" : "collective", lost);
  return lost;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int lost = run(true, MPI_COMM_WORLD);
  if (argc == 1) lost += run(false, MPI_COMM_SELF) + run(true, MPI_COMM_SELF);
  MPI_Finalize();
  return lost == 0 ? 0 : 1;
}
