// Splitting a communicator into nodes and rails.
#include "topology/topology.hpp"

#include <algorithm>
#include <array>

namespace forebay {
namespace {

// Measured on two cores over tmpfs and ext4: more writers than two a node share one file's lock and gain
// nothing, one leaves the disk idle while it merges marks.
constexpr int kDefaultAggregators = 2;

}  // namespace

std::vector<int> spread_out(int ranks, int aggregators) {
  std::vector<int> first;
  const int large = ranks % aggregators;
  const int size = ranks / aggregators;
  int at = 0;
  for (int group = 0; group < aggregators; ++group) {
    first.push_back(at);
    at += size + (group < large ? 1 : 0);
  }
  return first;
}

Topology make_topology(MPI_Comm comm, int ranks_per_node, int aggregators, int owners) {
  Topology t;
  const int rank = mpi::rank(comm);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, t.node_comm.address());
  if (ranks_per_node > 0) {
    mpi::Comm group;
    MPI_Comm_split(t.node_comm.get(), mpi::rank(t.node_comm.get()) / ranks_per_node, rank, group.address());
    t.node_comm = std::move(group);
  }
  t.local_rank = mpi::rank(t.node_comm.get());
  t.local_ranks = mpi::size(t.node_comm.get());

  mpi::Comm leaders;
  MPI_Comm_split(comm, t.local_rank == 0 ? 0 : MPI_UNDEFINED, rank, leaders.address());
  std::array<int, 4> facts{};
  if (t.local_rank == 0) {
    std::array<int, 2> extremes{-t.local_ranks, t.local_ranks};
    MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_INT, MPI_MAX, leaders.get());
    facts = {mpi::rank(leaders.get()), mpi::size(leaders.get()), -extremes[0], extremes[1]};
  }
  MPI_Bcast(facts.data(), static_cast<int>(facts.size()), MPI_INT, 0, t.node_comm.get());
  t.node = facts[0];
  t.nodes = facts[1];
  t.least_local_ranks = facts[2];
  t.most_local_ranks = facts[3];

  if (aggregators == 0 && owners > 0) aggregators = (owners + t.nodes - 1) / t.nodes;
  t.aggregators = std::clamp(aggregators > 0 ? aggregators : kDefaultAggregators, 1, t.least_local_ranks);
  const std::vector<int> first = spread_out(t.local_ranks, t.aggregators);
  const auto at = std::find(first.begin(), first.end(), t.local_rank);
  if (at != first.end()) t.rail = static_cast<int>(at - first.begin());
  if (t.nodes > 1) {
    MPI_Comm_split(comm, t.rail >= 0 ? t.rail : MPI_UNDEFINED, t.node, t.rail_comm.address());
  }
  return t;
}

}  // namespace forebay
