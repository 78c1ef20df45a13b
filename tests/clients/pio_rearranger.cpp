// Who holds what, who writes what, and the exchange between them.
#include "pio_rearranger.hpp"

#include <algorithm>
#include <numeric>

namespace forebay::test {

std::vector<MPI_Offset> irregular_map(int rank, int ranks, MPI_Offset levels, MPI_Offset columns) {
  const int holders = ranks > 2 ? ranks - 1 : ranks;
  std::vector<MPI_Offset> mine;
  MPI_Offset run = 0;
  for (MPI_Offset first = 0; first < columns; ++run) {
    const MPI_Offset width = std::min(columns - first, 1 + run * 5 % 7);
    if ((run * run + 3 * run) / 2 % holders == rank) {
      for (MPI_Offset c = first; c < first + width; ++c) mine.push_back(c);
    }
    first += width;
  }
  std::reverse(mine.begin(), mine.end());  // a rank's own order is not the file's
  std::vector<MPI_Offset> map;
  for (MPI_Offset level = 0; level < levels; ++level) {
    for (MPI_Offset c : mine) map.push_back(level * columns + c);
  }
  return map;
}

namespace {

std::vector<int> places_of(const std::vector<int>& counts) {
  std::vector<int> places(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, places.begin() + 1);
  return places;
}

std::vector<Region> regions_of(const std::vector<MPI_Offset>& sorted, MPI_Offset levels, MPI_Offset columns,
                               bool one_box) {
  std::vector<Region> regions;
  if (sorted.empty()) return regions;
  if (one_box) {
    const MPI_Offset first = sorted.front() % columns;
    regions.push_back({{0, first}, {levels, sorted.back() % columns - first + 1}});
    return regions;
  }
  for (MPI_Offset offset : sorted) {
    const bool follows = !regions.empty() && regions.back().start[0] == offset / columns &&
                         regions.back().start[1] + regions.back().count[1] == offset % columns;
    if (follows) {
      ++regions.back().count[1];
    } else {
      regions.push_back({{offset / columns, offset % columns}, {1, 1}});
    }
  }
  return regions;
}

}  // namespace

Rearranger::Rearranger(MPI_Comm comm, const std::vector<int>& io_tasks, Kind kind, MPI_Offset levels,
                       MPI_Offset columns, const std::vector<MPI_Offset>& map)
    : comm_(comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto tasks = static_cast<MPI_Offset>(io_tasks.size());
  const auto receiver_of = [&](MPI_Offset offset) {
    const MPI_Offset task = kind == Kind::subset ? rank * tasks / ranks : offset % columns * tasks / columns;
    return static_cast<std::size_t>(io_tasks[static_cast<std::size_t>(task)]);
  };
  send_counts_.assign(static_cast<std::size_t>(ranks), 0);
  receive_counts_.assign(static_cast<std::size_t>(ranks), 0);
  for (MPI_Offset offset : map) ++send_counts_[receiver_of(offset)];
  MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, comm);
  send_places_ = places_of(send_counts_);
  receive_places_ = places_of(receive_counts_);
  send_order_.resize(map.size());
  std::iota(send_order_.begin(), send_order_.end(), std::size_t{0});
  std::stable_sort(send_order_.begin(), send_order_.end(),
                   [&](std::size_t a, std::size_t b) { return receiver_of(map[a]) < receiver_of(map[b]); });

  std::vector<MPI_Offset> sent(map.size());
  for (std::size_t i = 0; i < map.size(); ++i) sent[i] = map[send_order_[i]];
  std::vector<MPI_Offset> received(
      static_cast<std::size_t>(std::accumulate(receive_counts_.begin(), receive_counts_.end(), 0)));
  MPI_Alltoallv(sent.data(), send_counts_.data(), send_places_.data(), MPI_OFFSET, received.data(),
                receive_counts_.data(), receive_places_.data(), MPI_OFFSET, comm);
  receive_order_.resize(received.size());
  std::iota(receive_order_.begin(), receive_order_.end(), std::size_t{0});
  std::sort(receive_order_.begin(), receive_order_.end(),
            [&](std::size_t a, std::size_t b) { return received[a] < received[b]; });
  std::sort(received.begin(), received.end());
  regions_ = regions_of(received, levels, columns, kind == Kind::box);
}

std::vector<double> Rearranger::to_io_tasks(const std::vector<double>& mine) const {
  std::vector<double> sent(mine.size()), received(receive_order_.size()), ordered(receive_order_.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = mine[send_order_[i]];
  MPI_Alltoallv(sent.data(), send_counts_.data(), send_places_.data(), MPI_DOUBLE, received.data(),
                receive_counts_.data(), receive_places_.data(), MPI_DOUBLE, comm_);
  for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = received[receive_order_[i]];
  return ordered;
}

}  // namespace forebay::test
