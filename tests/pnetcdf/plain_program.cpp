// An ordinary program that writes a PnetCDF file and knows nothing of Forebay: `plain_program PATH`. Its
// first rank prints what every call returned on every rank; its exit status tells whether all was well.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::string report;
bool well = true;

int note(const char* what, int err) {
  report += std::string(" ") + what + "=" + (err == NC_NOERR ? "ok" : ncmpi_strerrno(err));
  if (err != NC_NOERR) well = false;
  return err;
}

void write_file(const char* path, int rank, int ranks, MPI_Info info) {
  constexpr MPI_Offset width = 20000;
  int file = -1, t = -1, x = -1, dims[2], field = -1, map = -1;
  if (note("create", ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &file)) != NC_NOERR)
    return;
  note("dim", ncmpi_def_dim(file, "t", NC_UNLIMITED, &t));
  note("dim", ncmpi_def_dim(file, "x", width * ranks, &x));
  dims[0] = t;
  dims[1] = x;
  note("var", ncmpi_def_var(file, "map", NC_SHORT, 1, &x, &map));
  note("var", ncmpi_def_var(file, "field", NC_FLOAT, 2, dims, &field));
  note("enddef", ncmpi_enddef(file));
  std::vector<int> numbers(static_cast<std::size_t>(width), rank);
  MPI_Offset start[2] = {0, width * rank}, count[2] = {1, width};
  note("put", ncmpi_put_vara_int_all(file, map, start + 1, count + 1, numbers.data()));
  std::vector<float> values(static_cast<std::size_t>(width));
  for (int record = 0; record < 3; ++record) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i) * 0.5f + static_cast<float>(record);
    std::vector<MPI_Offset> places(static_cast<std::size_t>(width / 10) * 2), lengths(places.size());
    std::vector<MPI_Offset*> starts, counts;
    for (std::size_t piece = 0; piece < places.size() / 2;
         ++piece) {  // every rank's pieces between the others'
      places[2 * piece] = record;
      places[2 * piece + 1] = (static_cast<MPI_Offset>(piece) * ranks + rank) * 10;
      lengths[2 * piece] = 1;
      lengths[2 * piece + 1] = 10;
      starts.push_back(&places[2 * piece]);
      counts.push_back(&lengths[2 * piece]);
    }
    int request = NC_REQ_NULL, status = NC_NOERR;
    note("iput", ncmpi_iput_varn_float(file, field, static_cast<int>(starts.size()), starts.data(),
                                       counts.data(), values.data(), &request));
    if (note("wait", ncmpi_wait_all(file, 1, &request, &status)) == NC_NOERR) note("status", status);
  }
  note("close", ncmpi_close(file));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Info info = MPI_INFO_NULL;
  if (argc > 2) MPI_Info_create(&info);
  for (int i = 2; i + 1 < argc; i += 2) MPI_Info_set(info, argv[i], argv[i + 1]);
  write_file(argv[1], rank, ranks, info);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);

  report = "rank " + std::to_string(rank) + ":" + report;
  report.resize(1000, '\0');
  std::vector<char> all(static_cast<std::size_t>(ranks) * 1000);
  MPI_Gather(report.data(), 1000, MPI_CHAR, all.data(), 1000, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < ranks; ++r) std::printf("%s\n", &all[static_cast<std::size_t>(r) * 1000]);
  MPI_Finalize();
  return well ? 0 : 1;
}
