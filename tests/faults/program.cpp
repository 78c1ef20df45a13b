// Plays cells one after the other and says of each what was wrong: the program of run.py.
//   faults_program FOLDER CELLS LOG_FOLDER
// CELLS: a file of lines "KEY HINTS". On stdout a line a cell: "ok|over|FAIL NUMBER STRUCK TOLD [what is
// wrong]". After one that failed or is over it ends, with status 9, since nobody knows what that left in the
// process.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "play.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int provided = 0, rank = 0;
  // A keeper process of this job's own, which meets faults, too.
  for (const char* name : {"FOREBAY_KEEPER", "FOREBAY_KEEPER_PROGRAM"}) {
    if (const char* const value = std::getenv((std::string("FAULTS_") + name).c_str()))
      ::setenv(name, value, 1);
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  faults::Faults faults;
  if (!faults.begin(rank)) MPI_Abort(MPI_COMM_WORLD, 2);
  faults::Player player(faults, argv[1], argv[3]);
  std::ifstream list(argv[2]);
  int number = 0;
  for (std::string line; std::getline(list, line); ++number) {
    faults::Cell cell;
    if (!cell.read(line)) MPI_Abort(MPI_COMM_WORLD, 2);
    const faults::Verdict verdict = player.play(cell, number);
    if (rank == 0) {
      std::printf("%s %d %d %d %s\n",
                  !verdict.wrong.empty() ? "FAIL"
                  : verdict.over         ? "over"
                                         : "ok",
                  number, verdict.struck, verdict.told ? 1 : 0, verdict.wrong.c_str());
      std::fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!verdict.wrong.empty() || verdict.over) MPI_Abort(MPI_COMM_WORLD, 9);
  }
  faults.doing(number, "at the end");
  MPI_Finalize();
  return 0;
}
