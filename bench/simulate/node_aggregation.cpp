// As TAM and PnetCDF 1.15 do it: groups of a node's ranks send offsets, lengths and data to their first,
// which merges them and takes part in two-phase for all.
#include <algorithm>
#include <utility>
#include <vector>

#include "rank.hpp"
#include "subject.hpp"
#include "topology/topology.hpp"
#include "two_phase.hpp"
#include "watch.hpp"

namespace forebay::simulate {
namespace {

constexpr double kMerge = 10e-9;  // seconds a piece

struct Place {
  std::int64_t offset, length;
};

/// What the ranks of a group have, on its first rank.
struct Gathered {
  std::vector<std::vector<Place>> places;
  std::vector<std::vector<std::byte>> data;
  std::vector<Item> items;
};

// Collective over the group.
Gathered gather(MPI_Comm group, const std::vector<Item>& mine) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(group, &rank);
  MPI_Comm_size(group, &ranks);
  std::vector<Place> places;
  std::vector<std::byte> packed;
  for (const Item& item : mine) {
    places.push_back({item.offset, item.length});
    packed.insert(packed.end(), item.data, item.data + item.length);
  }
  copy(static_cast<std::int64_t>(places.size()), static_cast<std::int64_t>(packed.size()));
  const std::int64_t sizes[2] = {static_cast<std::int64_t>(places.size()),
                                 static_cast<std::int64_t>(packed.size())};
  std::vector<std::int64_t> all(rank == 0 ? 2 * static_cast<std::size_t>(ranks) : 0);
  Gathered gathered;
  away("node aggregation", [&] {
    MPI_Gather(sizes, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, 0, group);
    std::vector<MPI_Request> requests;
    const auto start = [&](auto operation, auto* data, std::size_t bytes, int peer, int tag) {
      if (bytes == 0) return;
      requests.emplace_back(MPI_REQUEST_NULL);
      operation(data, static_cast<int>(bytes), peer, tag, &requests.back());
    };
    const auto send = [&](const void* data, int bytes, int to, int tag, MPI_Request* request) {
      MPI_Isend(data, bytes, MPI_BYTE, to, tag, group, request);
    };
    const auto receive = [&](void* data, int bytes, int from, int tag, MPI_Request* request) {
      MPI_Irecv(data, bytes, MPI_BYTE, from, tag, group, request);
    };
    if (rank == 0) {
      for (int r = 1; r < ranks; ++r) {
        auto& p =
            gathered.places.emplace_back(static_cast<std::size_t>(all[2 * static_cast<std::size_t>(r)]));
        start(receive, p.data(), p.size() * sizeof(Place), r, 1);
        auto& d =
            gathered.data.emplace_back(static_cast<std::size_t>(all[2 * static_cast<std::size_t>(r) + 1]));
        start(receive, d.data(), d.size(), r, 2);
      }
    } else {
      start(send, places.data(), places.size() * sizeof(Place), 0, 1);
      start(send, packed.data(), packed.size(), 0, 2);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  });
  if (rank != 0) return gathered;
  gathered.items = mine;
  for (std::size_t r = 0; r < gathered.places.size(); ++r) {
    const std::byte* at = gathered.data[r].data();
    for (const Place& place : gathered.places[r])
      gathered.items.push_back({place.offset, place.length, std::exchange(at, at + place.length)});
  }
  std::sort(gathered.items.begin(), gathered.items.end(),
            [](const Item& a, const Item& b) { return a.offset < b.offset; });
  work(static_cast<double>(gathered.items.size()) * kMerge);
  return gathered;
}

// Neighbours become one, in memory of their own: fewer offsets go on.
std::vector<Item> join(const std::vector<Item>& items, std::vector<std::byte>& memory) {
  std::size_t bytes = 0;
  for (const Item& item : items) bytes += static_cast<std::size_t>(item.length);
  memory.resize(bytes);
  std::vector<Item> joined;
  std::byte* at = memory.data();
  for (const Item& item : items) {
    std::copy(item.data, item.data + item.length, at);
    if (!joined.empty() && joined.back().offset + joined.back().length == item.offset)
      joined.back().length += item.length;
    else
      joined.push_back({item.offset, item.length, at});
    at += item.length;
  }
  copy(static_cast<std::int64_t>(items.size()), static_cast<std::int64_t>(bytes));
  return joined;
}

}  // namespace

Outcome run_node_aggregation(const Job& job) {
  Load load(job.pattern, job.ranks.rank(), true);
  const std::vector<Item> items = load.items();
  Outcome outcome;
  const Watch opening(job.ranks);
  const auto node = job.ranks.split_by_node();
  const std::vector<int> firsts = spread_out(node->size(), std::min(job.aggregators, node->size()));
  const auto mine = std::upper_bound(firsts.begin(), firsts.end(), node->rank()) - 1;
  const int number = job.node * static_cast<int>(firsts.size()) + static_cast<int>(mine - firsts.begin());
  const bool aggregates = *mine == node->rank();
  MPI_Comm group = MPI_COMM_NULL, above = MPI_COMM_NULL;
  away("node aggregation", [&] {
    MPI_Comm_split(MPI_COMM_WORLD, number, job.ranks.rank(), &group);
    MPI_Comm_split(MPI_COMM_WORLD, aggregates ? 0 : MPI_UNDEFINED, job.ranks.rank(), &above);
  });
  TwoPhase two{above, {}, job.file, job.ranks.rank(), job.cb_buffer, {}};
  if (aggregates) {
    two.nodes = all_of(above, job.node);
    for (std::size_t r = 0; r < two.nodes.size(); ++r) {
      if (r == 0 || two.nodes[r] != two.nodes[r - 1]) two.aggregators.push_back(static_cast<int>(r));
    }
  }
  outcome.open = opening.stop();
  const Watch writing(job.ranks);
  {
    const Gathered gathered = gather(group, items);
    if (aggregates) {
      std::vector<std::byte> memory;
      two.write(join(gathered.items, memory));
    }
  }
  outcome.write = writing.stop();
  std::int64_t sums[2] = {two.messages, two.message_bytes};
  job.ranks.reduce(sums, Communicator::Op::sum);
  std::int64_t rounds = two.rounds;
  job.ranks.reduce({&rounds, 1}, Communicator::Op::maximum);
  outcome.messages = sums[0], outcome.message_bytes = sums[1], outcome.rounds = rounds;
  away("node aggregation", [&] {
    MPI_Comm_free(&group);
    if (above != MPI_COMM_NULL) MPI_Comm_free(&above);
  });
  return outcome;
}

}  // namespace forebay::simulate
