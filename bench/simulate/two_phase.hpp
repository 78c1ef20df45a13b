// Two-phase collective writing, for the peers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "file.hpp"
#include "load.hpp"
#include "mpi.h"

namespace forebay::simulate {

struct TwoPhase {
  MPI_Comm comm;                 ///< those that write together
  std::vector<int> aggregators;  ///< ranks of it, each once
  File& file;
  int writer;              ///< this rank's number in the machine
  std::int64_t cb_buffer;  ///< bytes an aggregator writes in a round, at least a stripe
  std::vector<int> nodes;  ///< by rank of comm
  std::int64_t messages = 0, message_bytes = 0, rounds = 0;  ///< of this rank, between nodes

  /// Collective. `items`: by offset.
  void write(std::span<const Item> items);
};

/// The same on all ranks: what every rank of `comm` gives.
std::vector<int> all_of(MPI_Comm comm, int mine);

}  // namespace forebay::simulate
