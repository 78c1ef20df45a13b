// Threads of one process as ranks: the engine runs without MPI, where the thread sanitizer sees all of it.
#pragma once

#include <functional>

#include "ranks/communicator.hpp"

namespace forebay {

/// Nodes, all alike, that threads do as if they were on.
struct PretendNodes {
  Machine machine;
  std::vector<Processors> processors;  ///< of each rank of a node
};

/// Runs `work` on `ranks` threads, each of them a process of its own as far as Forebay's state goes
/// (base/per_process.hpp), in nodes of `ranks_per_node` neighbours. Returns when all are through. Where
/// `work` throws, the program ends: the others would wait. `nodes`: what they have; null: nobody knows.
void run_as_ranks(int ranks, int ranks_per_node, const std::function<void(const Communicator&)>& work,
                  const PretendNodes* nodes = nullptr);

}  // namespace forebay
