// One failing rank takes the others along: they would wait for it.
#include "mpi_main.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace forebay::bench {

int mpi_main(int argc, char** argv, const std::string& program, const std::function<void()>& body) {
  MPI_Init(&argc, &argv);
  try {
    body();
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fmt::print(stderr, "{}: rank {}: {}\n", program, rank, error.what());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

std::int64_t sum(std::int64_t value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm);
  return value;
}

double largest(double value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

}  // namespace forebay::bench
