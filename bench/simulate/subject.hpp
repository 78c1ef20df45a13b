// What writes a pattern in the simulated machine: Forebay, or one of its peers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "file.hpp"
#include "load.hpp"
#include "pattern.hpp"
#include "ranks/communicator.hpp"

namespace forebay::simulate {

struct Job {
  const Communicator& ranks;  ///< all
  int node;                   ///< this rank's
  File& file;
  const Pattern& pattern;
  std::string path;        ///< of an empty file, for whoever wants a descriptor
  std::string hints;       ///< of Forebay
  int aggregators;         ///< a node, of node aggregation
  std::int64_t cb_buffer;  ///< bytes an aggregator of the peers writes in a round
};

/// Simulated seconds, until the last rank is there, and counts of all ranks together.
struct Outcome {
  std::string failure;  ///< on any rank; empty: none
  double open = 0, write = 0, close = 0;
  double read = -1;  ///< -1: does not read
  std::int64_t rounds = 0;
  std::int64_t messages = 0, message_bytes = 0;        ///< between nodes, of the write
  std::vector<std::pair<std::string, double>> stages;  ///< the slowest rank's, of the write
};

/// How Forebay writes: all in one collective call; in several that are kept, and a flush; or each rank by
/// itself, which the node keeps, and a flush.
enum class Way { strict, commit, independent };
/// Collective, of the file's ranks.
Outcome run_forebay(const Job& job, Way way);
/// Two-phase collective writing as ROMIO does it on striped files: an aggregator a node.
Outcome run_two_phase(const Job& job);
/// Ranks of a node send to `aggregators` of them, which do two-phase: TAM, and PnetCDF 1.15's intra-node
/// aggregation.
Outcome run_node_aggregation(const Job& job);

/// What Job's subject is called: strict, commit, independent, two-phase, aggregation. Throws
/// std::invalid_argument.
Outcome run_subject(const std::string& name, const Job& job);

}  // namespace forebay::simulate
