// As ROMIO does it on striped files: stripes go to the aggregators by turns, offsets and lengths are sent
// ahead, and rounds of a collective buffer follow, in which every rank sends to every aggregator what falls
// there. Kind to it: no all-to-all of sizes in each round, and one message for offsets and lengths.
#include "two_phase.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rank.hpp"
#include "subject.hpp"
#include "watch.hpp"

namespace forebay::simulate {
namespace {

// Beside the copy, in seconds a piece: to flatten a request and find its aggregator, and to merge lists.
constexpr double kSort = 10e-9;
constexpr double kMerge = 10e-9;

struct Place {
  std::int64_t offset, length;
};

/// Messages of one step, with their memory.
class Exchange {
 public:
  Exchange(TwoPhase& of, int tag) : of_(of), tag_(tag) { MPI_Comm_rank(of.comm, &rank_); }

  void send(const void* data, std::size_t bytes, int to) {
    requests_.emplace_back(MPI_REQUEST_NULL);
    MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag_, of_.comm, &requests_.back());
    if (of_.nodes[static_cast<std::size_t>(to)] == of_.nodes[static_cast<std::size_t>(rank_)]) return;
    ++of_.messages;
    of_.message_bytes += static_cast<std::int64_t>(bytes);
  }
  void receive(void* data, std::size_t bytes, int from) {
    requests_.emplace_back(MPI_REQUEST_NULL);
    MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag_, of_.comm, &requests_.back());
  }
  void wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

 private:
  TwoPhase& of_;
  int tag_;
  int rank_ = 0;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::vector<int> all_of(MPI_Comm comm, int mine) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  away("two-phase", [&] { MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm); });
  return all;
}

void TwoPhase::write(std::span<const Item> items) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto count = static_cast<std::int64_t>(aggregators.size());
  const std::int64_t stripe = file.costs().stripe;
  const std::int64_t per_round = std::max<std::int64_t>(1, cb_buffer / stripe);  // stripes of one aggregator
  const auto found = std::find(aggregators.begin(), aggregators.end(), rank);
  const std::int64_t me = found == aggregators.end() ? -1 : found - aggregators.begin();

  // Everybody's range, though only the hull of all is used.
  std::int64_t begin = kNoOffset, end = 0;
  {
    const std::int64_t mine[2] = {items.empty() ? kNoOffset : items.front().offset,
                                  items.empty() ? 0 : items.back().offset + items.back().length};
    std::vector<std::int64_t> all(2 * static_cast<std::size_t>(ranks));
    away("two-phase", [&] { MPI_Allgather(mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, comm); });
    for (std::size_t r = 0; r < all.size(); r += 2) {
      begin = std::min(begin, all[r]);
      end = std::max(end, all[r + 1]);
    }
  }
  if (begin >= end) return;
  const std::int64_t first = begin / stripe;
  const auto aggregator_of = [&](std::int64_t s) { return (s - first) % count; };
  const auto round_of = [&](std::int64_t s) { return (s - first) / count / per_round; };
  rounds = round_of((end - 1) / stripe) + 1;

  // What goes to whom, cut at stripes; ascending, and so by round.
  std::vector<std::vector<Item>> out(static_cast<std::size_t>(count));
  for (const Item& item : items) {
    for (std::int64_t at = item.offset; at < item.offset + item.length;) {
      const std::int64_t s = at / stripe;
      const std::int64_t next = std::min(item.offset + item.length, (s + 1) * stripe);
      out[static_cast<std::size_t>(aggregator_of(s))].push_back(
          {at, next - at, item.data + (at - item.offset)});
      at = next;
    }
  }
  work(static_cast<double>(items.size()) * kSort);

  std::vector<int> sizes(static_cast<std::size_t>(ranks), 0), theirs(sizes.size(), 0);
  for (std::int64_t a = 0; a < count; ++a)
    sizes[static_cast<std::size_t>(aggregators[static_cast<std::size_t>(a)])] =
        static_cast<int>(out[static_cast<std::size_t>(a)].size());
  away("two-phase", [&] { MPI_Alltoall(sizes.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, comm); });
  std::vector<std::vector<Place>> mine(static_cast<std::size_t>(count));  // sent
  std::vector<std::vector<Place>> others(static_cast<std::size_t>(ranks));
  away("two-phase", [&] {
    Exchange places(*this, 1);
    for (int r = 0; r < ranks; ++r) {
      auto& list = others[static_cast<std::size_t>(r)];
      list.resize(static_cast<std::size_t>(theirs[static_cast<std::size_t>(r)]));
      if (!list.empty()) places.receive(list.data(), list.size() * sizeof(Place), r);
    }
    for (std::size_t a = 0; a < mine.size(); ++a) {
      for (const Item& item : out[a]) mine[a].push_back({item.offset, item.length});
      if (!mine[a].empty()) places.send(mine[a].data(), mine[a].size() * sizeof(Place), aggregators[a]);
    }
    places.wait();
  });

  std::vector<std::size_t> sent(out.size(), 0), taken(others.size(), 0);
  std::vector<std::byte> packed, arrived, block;
  std::vector<std::pair<Place, const std::byte*>> pieces;
  for (std::int64_t round = 0; round < rounds; ++round) {
    std::vector<std::pair<std::size_t, std::size_t>> parts(out.size());  // of packed
    packed.clear();
    std::int64_t packed_pieces = 0;
    for (std::size_t a = 0; a < out.size(); ++a) {
      parts[a].first = packed.size();
      for (; sent[a] < out[a].size() && round_of(out[a][sent[a]].offset / stripe) == round;
           ++sent[a], ++packed_pieces)
        packed.insert(packed.end(), out[a][sent[a]].data, out[a][sent[a]].data + out[a][sent[a]].length);
      parts[a].second = packed.size() - parts[a].first;
    }
    copy(packed_pieces, static_cast<std::int64_t>(packed.size()));
    std::size_t total = 0;
    std::vector<std::size_t> bytes(others.size(), 0), last(taken);
    for (std::size_t r = 0; r < others.size(); ++r) {
      for (; last[r] < others[r].size() && round_of(others[r][last[r]].offset / stripe) == round; ++last[r])
        bytes[r] += static_cast<std::size_t>(others[r][last[r]].length);
      total += bytes[r];
    }
    arrived.resize(total);
    away("two-phase", [&] {
      Exchange data(*this, 2);
      std::size_t at = 0;
      for (std::size_t r = 0; r < bytes.size(); at += bytes[r], ++r) {
        if (bytes[r] > 0) data.receive(arrived.data() + at, bytes[r], static_cast<int>(r));
      }
      for (std::size_t a = 0; a < parts.size(); ++a) {
        if (parts[a].second > 0) data.send(packed.data() + parts[a].first, parts[a].second, aggregators[a]);
      }
      data.wait();
    });
    if (me < 0 || total == 0) continue;
    pieces.clear();
    std::size_t at = 0;
    for (std::size_t r = 0; r < others.size(); ++r) {
      for (; taken[r] < last[r]; at += static_cast<std::size_t>(others[r][taken[r]].length), ++taken[r])
        pieces.emplace_back(others[r][taken[r]], arrived.data() + at);
    }
    std::sort(pieces.begin(), pieces.end(),
              [](const auto& a, const auto& b) { return a.first.offset < b.first.offset; });
    work(static_cast<double>(pieces.size()) * kMerge);
    copy(static_cast<std::int64_t>(pieces.size()), static_cast<std::int64_t>(total));
    // A stripe, or what of it is without holes, is one write.
    const auto storage = make_storage(file, writer);
    for (std::size_t i = 0; i < pieces.size();) {
      const std::int64_t from = pieces[i].first.offset, until = (from / stripe + 1) * stripe;
      block.clear();
      for (; i < pieces.size() && pieces[i].first.offset == from + static_cast<std::int64_t>(block.size()) &&
             pieces[i].first.offset < until;
           ++i)
        block.insert(block.end(), pieces[i].second, pieces[i].second + pieces[i].first.length);
      const Piece piece{from, block.data(), static_cast<std::int64_t>(block.size())};
      (void)storage->write({&piece, 1});
    }
  }
}

Outcome run_two_phase(const Job& job) {
  Load load(job.pattern, job.ranks.rank(), true);
  const std::vector<Item> items = load.items();
  Outcome outcome;
  const Watch opening(job.ranks);
  TwoPhase two{
      MPI_COMM_WORLD, {}, job.file, job.ranks.rank(), job.cb_buffer, all_of(MPI_COMM_WORLD, job.node)};
  for (int r = 0, last = -1; r < job.ranks.size(); ++r) {
    if (std::exchange(last, two.nodes[static_cast<std::size_t>(r)]) != two.nodes[static_cast<std::size_t>(r)])
      two.aggregators.push_back(r);
  }
  outcome.open = opening.stop();
  const Watch writing(job.ranks);
  two.write(items);
  outcome.write = writing.stop();
  std::int64_t sums[2] = {two.messages, two.message_bytes};
  job.ranks.reduce(sums, Communicator::Op::sum);
  outcome.messages = sums[0], outcome.message_bytes = sums[1], outcome.rounds = two.rounds;
  return outcome;
}

}  // namespace forebay::simulate
