// Requests of one rank that end in one wait and cover the same elements, and such pieces of one varn: the
// later one wins, whichever begins first in the file (docs/limits.md).
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace {

int failures = 0;
int rank = 0;

constexpr MPI_Offset length = 16;
struct Piece {
  MPI_Offset start;
  MPI_Offset count;
};
enum class Way { iput, bput, varn, iput_varn };

void run(int file, int variable, Way way, std::array<Piece, 2> pieces, const char* what) {
  const int one[length] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const int two[length] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  MPI_Offset* starts[] = {&pieces[0].start, &pieces[1].start};
  MPI_Offset* counts[] = {&pieces[0].count, &pieces[1].count};
  int both[2 * length];
  std::copy_n(two, length, std::copy_n(one, pieces[0].count, both));
  int requests[] = {NC_REQ_NULL, NC_REQ_NULL}, statuses[2] = {};
  const int mine = rank == 0 ? 2 : 0;
  if (way == Way::varn) {
    ncmpi_put_varn_int_all(file, variable, mine, starts, counts, both);
  } else if (rank == 0 && way == Way::iput_varn) {
    ncmpi_iput_varn_int(file, variable, 1, starts, counts, one, &requests[0]);
    ncmpi_iput_varn_int(file, variable, 1, starts + 1, counts + 1, two, &requests[1]);
  } else if (rank == 0) {
    const auto post = way == Way::iput ? ncmpi_iput_vara_int : ncmpi_bput_vara_int;
    post(file, variable, starts[0], counts[0], one, &requests[0]);
    post(file, variable, starts[1], counts[1], two, &requests[1]);
  }
  if (way != Way::varn) {
    std::swap(requests[0], requests[1]);  // the order of the list decides nothing
    ncmpi_wait_all(file, mine, requests, statuses);
  }
  int got[length];
  ncmpi_get_var_int_all(file, variable, got);
  for (MPI_Offset i = 0; i < length; ++i) {
    const auto covers = [&](const Piece& piece) { return i >= piece.start && i < piece.start + piece.count; };
    const int wanted = covers(pieces[1]) ? 2 : covers(pieces[0]) ? 1 : NC_FILL_INT;
    if (got[i] == wanted) continue;
    ++failures;
    std::fprintf(stderr, "%s: element %d is %d, not %d\n", what, static_cast<int>(i), got[i], wanted);
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  constexpr std::array ways{Way::iput, Way::bput, Way::varn, Way::iput_varn};
  constexpr std::array<std::array<Piece, 2>, 4> cases{
      {{{{0, 10}, {5, 10}}}, {{{5, 10}, {0, 10}}}, {{{5, 2}, {0, 10}}}, {{{3, 6}, {3, 6}}}}};
  int file = -1, dim = -1;
  ncmpi_create(MPI_COMM_WORLD, "overlap.nc", NC_CLOBBER, MPI_INFO_NULL, &file);
  ncmpi_set_fill(file, NC_FILL, nullptr);
  ncmpi_def_dim(file, "n", length, &dim);
  for (std::size_t v = 0; v < ways.size() * cases.size(); ++v) {
    int variable = -1;
    ncmpi_def_var(file, ("v" + std::to_string(v)).c_str(), NC_INT, 1, &dim, &variable);
  }
  ncmpi_enddef(file);
  ncmpi_buffer_attach(file, 4096);
  int variable = 0;
  for (const Way way : ways) {
    for (const auto& pieces : cases) run(file, variable++, way, pieces, "two requests");
  }
  ncmpi_buffer_detach(file);
  ncmpi_close(file);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
