// Records that are put and got with a stride, which PnetCDF's own driver gets wrong (get.cpp of the driver):
// each rank reads back what it put, and the file holds it where it belongs.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace {

int failures = 0;

void check(const char* what, bool good) {
  if (good) return;
  std::fprintf(stderr, "%s is wrong\n", what);
  ++failures;
}

void done(const char* what, int err) {
  if (err != NC_NOERR) std::fprintf(stderr, "%s: %s\n", what, ncmpi_strerrno(err));
  check(what, err == NC_NOERR);
}

constexpr int each = 4;   // records of a rank
constexpr int width = 3;  // elements of a record of `wide`

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, file = -1, wide = -1, narrow = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<int, 2> dims{};
  done("create", ncmpi_create(MPI_COMM_WORLD, "strided_records.nc", NC_CLOBBER, MPI_INFO_NULL, &file));
  done("time", ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  done("x", ncmpi_def_dim(file, "x", width, &dims[1]));
  done("wide", ncmpi_def_var(file, "wide", NC_INT, 2, dims.data(), &wide));
  done("narrow", ncmpi_def_var(file, "narrow", NC_DOUBLE, 1, dims.data(), &narrow));
  done("enddef", ncmpi_enddef(file));
  MPI_Info info = MPI_INFO_NULL;
  int found = 0, length = 0;
  done("info", ncmpi_inq_file_info(file, &info));
  MPI_Info_get_valuelen(info, "forebay", &length, &found);
  MPI_Info_free(&info);
  check("the driver", found != 0);

  // Rank r has the records r, r + ranks, r + 2 ranks, ...
  const std::array<MPI_Offset, 2> start{rank, 0}, count{each, width}, stride{ranks + 1, 1};
  const MPI_Offset records = ranks - 1 + (each - 1) * (ranks + 1) + 1;
  std::vector<int> put(each * width), got(put.size());
  for (std::size_t i = 0; i < put.size(); ++i) put[i] = rank * 1000 + static_cast<int>(i) + 1;
  std::array<double, each> put_narrow{}, got_narrow{};
  for (int i = 0; i < each; ++i) put_narrow[static_cast<std::size_t>(i)] = rank * 1000 + i + 0.5;
  done("put wide", ncmpi_put_vars_int_all(file, wide, start.data(), count.data(), stride.data(), put.data()));
  done("put narrow",
       ncmpi_put_vars_double_all(file, narrow, start.data(), count.data(), stride.data(), put_narrow.data()));

  done("get wide", ncmpi_get_vars_int_all(file, wide, start.data(), count.data(), stride.data(), got.data()));
  check("wide", got == put);
  done("get narrow",
       ncmpi_get_vars_double_all(file, narrow, start.data(), count.data(), stride.data(), got_narrow.data()));
  check("narrow", got_narrow == put_narrow);

  // One rank takes all records as they lie, one nothing, the last ones with a stride.
  std::vector<int> all(static_cast<std::size_t>(records) * width, -1);
  const std::array<MPI_Offset, 2> first{}, whole{records, width}, none{};
  int err = NC_NOERR;
  std::fill(got.begin(), got.end(), 0);
  if (rank == 0 && ranks > 1)
    err = ncmpi_get_vara_int_all(file, wide, first.data(), whole.data(), all.data());
  else if (rank == 1 && ranks > 2)
    err = ncmpi_get_vara_int_all(file, wide, first.data(), none.data(), nullptr);
  else
    err = ncmpi_get_vars_int_all(file, wide, start.data(), count.data(), stride.data(), got.data());
  done("get in several ways", err);
  if (rank == ranks - 1) check("wide, where others get otherwise", got == put);
  for (MPI_Offset r = 0; rank == 0 && ranks > 1 && r < records; ++r) {
    const MPI_Offset whose = r % (ranks + 1), which = r / (ranks + 1);
    const auto at = static_cast<std::size_t>(r * width);
    for (int x = 0; x < width && whose < ranks; ++x)
      check("a record", all[at + static_cast<std::size_t>(x)] == whose * 1000 + which * width + x + 1);
  }

  // A rank's wrong arguments do not keep the others from theirs.
  const std::array<MPI_Offset, 2> beyond{records + 5, 0};
  std::fill(got.begin(), got.end(), 0);
  err = ncmpi_get_vars_int_all(file, wide, rank == 0 ? beyond.data() : start.data(), count.data(),
                               stride.data(), got.data());
  check("what a rank with wrong arguments hears", rank == 0 ? err == NC_EINVALCOORDS : err == NC_NOERR);
  if (rank != 0) check("wide, where another is wrong", got == put);

  // Beside another get that is pending, alone, transposed and as floats.
  int request = NC_REQ_NULL, pending = 0, one = 0;
  const std::array<MPI_Offset, 2> at{rank, 1}, imap{1, each};
  std::vector<float> turned(put.size());
  done("iget", ncmpi_iget_var1_int(file, wide, at.data(), &one, &request));
  done("begin_indep", ncmpi_begin_indep_data(file));
  done("get alone", ncmpi_get_varm_float(file, wide, start.data(), count.data(), stride.data(), imap.data(),
                                         turned.data()));
  for (std::size_t r = 0; r < each; ++r) {
    for (std::size_t x = 0; x < width; ++x)
      check("wide, turned", turned[x * each + r] == static_cast<float>(put[r * width + x]));
  }
  const std::array<MPI_Offset, 2> no_records{0, width};
  done("get nothing",
       ncmpi_get_vars_int(file, wide, start.data(), no_records.data(), stride.data(), got.data()));
  done("end_indep", ncmpi_end_indep_data(file));
  done("inq_nreqs", ncmpi_inq_nreqs(file, &pending));
  check("what is pending", pending == 1);
  done("wait", ncmpi_wait_all(file, 1, &request, nullptr));
  check("the pending one", one == put[1]);
  done("close", ncmpi_close(file));

  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
