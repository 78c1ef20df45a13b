// The main of a program that writes, and sums over its ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>

namespace forebay::bench {

// Runs `body` between MPI_Init and MPI_Finalize and returns 0. An exception on a rank is printed and ends all
// ranks.
int mpi_main(int argc, char** argv, const std::string& program, const std::function<void()>& body);

// Over all ranks. Collective.
std::int64_t sum(std::int64_t value, MPI_Comm comm);
double largest(double value, MPI_Comm comm);

}  // namespace forebay::bench
