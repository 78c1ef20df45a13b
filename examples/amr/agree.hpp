// Errors that all ranks have together: what fails on one rank ends the call on every rank, with the same
// words.
#pragma once

#include <mpi.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace amr {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Collective: throws Failure on all ranks where `error` is not empty on any, with that of the lowest such
// rank.
void agree(MPI_Comm comm, const std::string& error);

// Collective: calls `work`, and throws on all ranks what it throws on any.
template <class Work>
void together(MPI_Comm comm, Work&& work) {
  std::string error;
  try {
    work();
  } catch (const std::exception& e) {
    error = e.what();
    if (error.empty()) error = "an error without words";
  }
  agree(comm, error);
}

}  // namespace amr
