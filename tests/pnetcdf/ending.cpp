// Puts small records in many calls and then ends as it is told, without closing the file:
// pnetcdf_ending FILE close|close_one|sync|finalize|exit|abort|abort_one|signal|wait [INDEPENDENT]
// "turns_" before it: two ranks put to one place in turns, and the one that was first ends last.
// "_one": only the last rank has something to put, and ends so; the others wait to be ended by the launcher.
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank, ranks;

void check(int err, const char* what) {
  if (err == NC_NOERR) return;
  std::fprintf(stderr, "rank %d: %s: %s\n", rank, what, ncmpi_strerrno(err));
  std::_Exit(3);
}

// Blocks, and lists that do not ascend, interleaved over ranks; a value of its own for each element.
void put(int file, int fixed, int records, bool independent, bool anything) {
  constexpr MPI_Offset width = 60;
  const auto call = [&](auto collective, auto alone, auto... arguments) {
    check(independent ? alone(file, arguments...) : collective(file, arguments...), "put");
  };
  for (int step = 0; step < 20; ++step) {
    std::vector<int> row(width);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = (rank * 1000 + step) * 1000 + static_cast<int>(i);
    const MPI_Offset start[] = {step, rank * width}, count[] = {anything ? 1 : 0, width};
    call(ncmpi_put_vara_int_all, ncmpi_put_vara_int, fixed, start, count, row.data());

    std::vector<MPI_Offset> places;
    for (MPI_Offset i = anything ? width / 2 : 0; i-- > 0;)
      places.push_back(step), places.push_back((2 * i + step % 2) * ranks + rank);
    std::vector<MPI_Offset*> starts;
    for (std::size_t i = 0; i < places.size(); i += 2) starts.push_back(&places[i]);
    std::vector<double> values(starts.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = rank + 0.001 * step + static_cast<double>(i);
    MPI_Offset** no_counts = nullptr;
    call(ncmpi_put_varn_double_all, ncmpi_put_varn_double, records, static_cast<int>(starts.size()),
         starts.data(), no_counts, values.data());
  }
}

// The last rank's bytes of an earlier call lose to the first rank's, also where it is the last to end.
void put_in_turn(int file, int fixed) {
  for (const int turn : {ranks - 1, 0}) {
    const int value = -1 - turn;
    const MPI_Offset start[] = {0, 0}, count[] = {rank == turn ? 1 : 0, rank == turn ? 1 : 0};
    check(ncmpi_put_vara_int_all(file, fixed, start, count, &value), "put in turn");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::string how = argc > 2 ? argv[2] : "";
  const bool turns = how.rfind("turns_", 0) == 0;
  if (turns) how = how.substr(6);
  const bool independent = argc > 3;
  int file = -1, time = -1, row = -1, x = -1, y = -1, fixed = -1, records = -1;
  check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "create");
  ncmpi_def_dim(file, "time", NC_UNLIMITED, &time);
  ncmpi_def_dim(file, "row", 20, &row);
  ncmpi_def_dim(file, "x", 60 * ranks, &x);
  ncmpi_def_dim(file, "y", 60 * ranks, &y);
  const int fixed_dims[] = {row, x}, record_dims[] = {time, y};
  ncmpi_def_var(file, "fixed", NC_INT, 2, fixed_dims, &fixed);
  ncmpi_def_var(file, "records", NC_DOUBLE, 2, record_dims, &records);
  check(ncmpi_enddef(file), "enddef");
  if (independent) check(ncmpi_begin_indep_data(file), "begin_indep_data");
  const bool one = how.find("_one") != std::string::npos;
  if (turns)
    put_in_turn(file, fixed);
  else
    put(file, fixed, records, independent, !one || rank == ranks - 1);
  MPI_Barrier(MPI_COMM_WORLD);

  if (turns && rank == ranks - 1) usleep(100000);
  if (how == "close" || how == "close_one") check(ncmpi_close(file), "close");
  if (how == "sync") check(ncmpi_sync(file), "sync");
  if (how == "sync") std::_Exit(0);
  if (how == "exit") std::exit(0);
  if (how == "abort") MPI_Abort(MPI_COMM_WORLD, 7);
  if (how == "abort_one" && rank == ranks - 1) MPI_Abort(MPI_COMM_WORLD, 7);
  if (how == "signal") std::raise(SIGTERM);
  if (how == "wait") {
    std::printf("ready %d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
  }
  if (how == "abort_one" || how == "wait") sleep(60);
  MPI_Finalize();
  return 0;
}
