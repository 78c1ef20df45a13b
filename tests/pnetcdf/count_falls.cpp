// The number of records in the header never falls, not for a moment: a program may be killed then. Every
// pwrite of this process that covers it is looked at. Exit status 1: it fell.
#include <dlfcn.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr off_t kBegin = 4, kEnd = 12;  // of a CDF-5 file
bool looks = false;
int falls = 0, seen = 0;
std::uint64_t last = 0;

void look(const void* data, std::size_t length, off_t at) {
  if (!looks || at > kBegin || at + static_cast<off_t>(length) < kEnd) return;
  std::uint64_t count = 0;
  std::memcpy(&count, static_cast<const char*>(data) + (kBegin - at), sizeof count);
  count = __builtin_bswap64(count);
  if (count < last) {
    std::fprintf(stderr, "the count falls from %lu to %lu\n", static_cast<unsigned long>(last),
                 static_cast<unsigned long>(count));
    ++falls;
  }
  last = count;
  ++seen;
}

using Write = ssize_t (*)(int, const void*, size_t, off_t);

Write next(const char* name) {
  return reinterpret_cast<Write>(dlsym(RTLD_NEXT, name));
}

void check(int err, const char* call) {
  if (err == NC_NOERR) return;
  std::fprintf(stderr, "%s: %s\n", call, ncmpi_strerror(err));
  MPI_Abort(MPI_COMM_WORLD, 2);
}
#define CHECK(call) check(call, #call)

}  // namespace

extern "C" [[gnu::visibility("default")]] ssize_t pwrite(int fd, const void* data, size_t length, off_t at) {
  static const Write real = next("pwrite");
  look(data, length, at);
  return real(fd, data, length, at);
}
extern "C" [[gnu::visibility("default")]] ssize_t pwrite64(int fd, const void* data, size_t length,
                                                           off64_t at) {
  static const Write real = next("pwrite64");
  look(data, length, at);
  return real(fd, data, length, at);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, file = 0, variable = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<int, 2> dims{};
  CHECK(ncmpi_create(MPI_COMM_WORLD, "count_falls.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  CHECK(ncmpi_def_dim(file, "x", 4 * ranks, &dims[1]));
  CHECK(ncmpi_def_var(file, "v", NC_INT, 2, dims.data(), &variable));
  CHECK(ncmpi_enddef(file));
  looks = true;
  const std::array<int, 4> values{1, 2, 3, 4};
  const std::array<MPI_Offset, 2> count{1, 4};
  const auto put = [&](MPI_Offset record, bool collective) {
    const std::array<MPI_Offset, 2> start{record, 4 * rank};
    CHECK(collective ? ncmpi_put_vara_int_all(file, variable, start.data(), count.data(), values.data())
                     : ncmpi_put_vara_int(file, variable, start.data(), count.data(), values.data()));
  };
  for (MPI_Offset record = 0; record < 5; ++record) put(record, true);
  for (const bool grows : {false, true}) {
    CHECK(ncmpi_begin_indep_data(file));
    put(2, false);
    if (grows && rank == ranks - 1) put(5, false);
    CHECK(ncmpi_end_indep_data(file));
  }
  CHECK(ncmpi_sync(file));
  put(6, true);
  CHECK(ncmpi_redef(file));
  CHECK(ncmpi_enddef(file));
  put(7, true);
  CHECK(ncmpi_close(file));
  looks = false;
  if (rank == 0 && seen == 0) std::fputs("no write of the count was seen\n", stderr), falls = 1;
  MPI_Allreduce(MPI_IN_PLACE, &falls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return falls == 0 ? 0 : 1;
}
