// Every operation leaves the coroutine; the rail is the library's own.
#include "ranks.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpi/rail.hpp"
#include "rank.hpp"

namespace forebay::simulate {
namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

Processors only(int processor) {
  Processors bits(static_cast<std::size_t>(processor) / 64 + 1);
  bits.back() = std::uint64_t{1} << (processor % 64);
  return bits;
}

class SimulatedRail final : public Rail {
 public:
  SimulatedRail(std::unique_ptr<Rail> below, MPI_Comm comm) : below_(std::move(below)), comm_(comm) {}

  Status agree(std::span<const std::int64_t> send_bytes, std::int64_t next, std::int64_t& least) override {
    const Away gone("an agreement of sizes between nodes");
    return below_->agree(send_bytes, next, least);
  }

  Status transfer(const Pack& pack, const Unpack& unpack, Counters& counters) override {
    Away gone("a transfer between nodes");
    return below_->transfer(
        [&](int node, std::span<std::byte> out) {
          gone.back([&] {
            pack(node, out);
            copy(0, static_cast<std::int64_t>(out.size()));
          });
        },
        [&](int node, std::span<const std::byte> message) {
          return gone.back([&] {
            copy(0, static_cast<std::int64_t>(message.size()));
            return unpack(node, message);
          });
        },
        counters);
  }

  Status least(std::span<std::int64_t> values) override {
    const Away gone("an agreement between nodes");
    return below_->least(values);
  }

  // A rank that asks again and again whether something has come takes much of the host's time: here the nodes
  // tell each other how much does, which takes about as long as the library's barrier.
  Status post(std::span<const Letter> letters, const Unpack& take, Counters& counters) override {
    Away gone("letters between nodes");
    const auto nodes = static_cast<std::size_t>(size_of(comm_));
    std::vector<MPI_Request> sends, receives;
    std::vector<int> out(nodes, 0), in(nodes, 0);
    for (const auto& [node, bytes] : letters) {
      out[static_cast<std::size_t>(node)] = static_cast<int>(bytes.size());
      ++counters.messages;
      counters.message_bytes += static_cast<std::int64_t>(bytes.size());
    }
    MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm_);
    std::vector<std::vector<std::byte>> arrived;
    std::vector<int> from;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (in[n] == 0) continue;
      from.push_back(static_cast<int>(n));
      receives.push_back(MPI_REQUEST_NULL);
      arrived.emplace_back(static_cast<std::size_t>(in[n]));
      MPI_Irecv(arrived.back().data(), in[n], MPI_BYTE, from.back(), kTag, comm_, &receives.back());
    }
    for (const auto& [node, bytes] : letters) {
      sends.push_back(MPI_REQUEST_NULL);
      MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, node, kTag, comm_, &sends.back());
    }
    Status status;
    for (std::size_t left = receives.size(); left > 0; --left) {
      int which = 0;
      MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &which, MPI_STATUS_IGNORE);
      const auto i = static_cast<std::size_t>(which);
      const bool well = gone.back([&] {
        copy(0, static_cast<std::int64_t>(arrived[i].size()));
        return take(from[i], arrived[i]);
      });
      if (!well) status.update({Code::internal, "a letter was not well-formed"});
    }
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    return status;
  }

 private:
  static constexpr int kTag = 5000;

  std::unique_ptr<Rail> below_;
  MPI_Comm comm_;
};

MPI_Op op_of(Communicator::Op op) {
  switch (op) {
    case Communicator::Op::minimum:
      return MPI_MIN;
    case Communicator::Op::maximum:
      return MPI_MAX;
    case Communicator::Op::sum:
      return MPI_SUM;
    default:
      return MPI_BOR;
  }
}

// Of the first value so many of the next ones are reduced to the least, the others to their sum.
void least_and_sums(void* in, void* inout, int* length, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const auto count = static_cast<std::int64_t>(bytes) / 8;
  const auto* from = static_cast<const std::int64_t*>(in);
  auto* to = static_cast<std::int64_t*>(inout);
  for (int i = 0; i < *length; ++i, from += count, to += count) {
    for (std::int64_t v = 1; v < count; ++v) to[v] = v <= to[0] ? std::min(to[v], from[v]) : to[v] + from[v];
  }
}

/// Where a rank sits.
struct Seat {
  int node;
  const Machine* machine;
  int processor;
};

class SimulatedRanks final : public Communicator {
 public:
  SimulatedRanks(MPI_Comm comm, const Seat& seat, bool own)
      : Communicator(rank_in(comm), size_of(comm)), comm_(comm), seat_(seat), own_(own) {}
  ~SimulatedRanks() override {
    const Away gone("the end of a communicator");
    if (own_) MPI_Comm_free(&comm_);
  }

  bool reduce(std::span<std::int64_t> values, Op op) const override {
    const Away gone("a reduction");
    return size() == 1 || values.empty() ||
           MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, op_of(op),
                         comm_) == MPI_SUCCESS;
  }
  bool reduce(std::span<std::int64_t> least, std::span<std::int64_t> sums,
              const std::function<void()>& meanwhile) const override {
    if (meanwhile) meanwhile();
    if (size() == 1) return true;
    // As one message, which no algorithm cuts.
    const Away gone("a reduction");
    std::vector<std::int64_t> values = {static_cast<std::int64_t>(least.size())};
    values.insert(values.end(), least.begin(), least.end());
    values.insert(values.end(), sums.begin(), sums.end());
    MPI_Datatype all = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Type_contiguous(static_cast<int>(values.size()), MPI_INT64_T, &all);
    MPI_Type_commit(&all);
    MPI_Op_create(least_and_sums, 1, &op);
    const bool well = MPI_Allreduce(MPI_IN_PLACE, values.data(), 1, all, op, comm_) == MPI_SUCCESS;
    MPI_Op_free(&op);
    MPI_Type_free(&all);
    std::copy_n(values.begin() + 1, least.size(), least.begin());
    std::copy(values.end() - static_cast<std::ptrdiff_t>(sums.size()), values.end(), sums.begin());
    return well;
  }
  bool broadcast(void* data, std::size_t bytes, int root) const override {
    const Away gone("a broadcast");
    return MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, comm_) == MPI_SUCCESS;
  }
  void barrier() const override {
    const Away gone("a barrier");
    MPI_Barrier(comm_);
  }
  void gather(const void* mine, std::size_t bytes, void* all, int root) const override {
    const Away gone("a gather");
    const auto count = static_cast<int>(bytes);
    if (root < 0)
      MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_);
    else
      MPI_Gather(mine, count, MPI_BYTE, all, count, MPI_BYTE, root, comm_);
  }
  std::vector<std::int64_t> concatenate(std::span<const std::int64_t> mine) const override {
    const Away gone("a gather");
    std::vector<int> counts(static_cast<std::size_t>(size())), places(counts.size());
    const int count = static_cast<int>(mine.size());
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_);
    int sum = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) places[r] = std::exchange(sum, sum + counts[r]);
    std::vector<std::int64_t> all(static_cast<std::size_t>(sum));
    MPI_Allgatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), places.data(), MPI_INT64_T,
                   comm_);
    return all;
  }
  // Only the end of a process asks.
  std::unique_ptr<Started> start_minimum(std::span<std::int64_t>) const override { return nullptr; }

  std::unique_ptr<Communicator> split(int color, int key) const override {
    MPI_Comm made = MPI_COMM_NULL;
    away("a split", [&] { MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &made); });
    if (made == MPI_COMM_NULL) return nullptr;
    return std::make_unique<SimulatedRanks>(made, seat_, true);
  }
  std::unique_ptr<Communicator> split_by_node() const override { return split(seat_.node, rank()); }
  std::unique_ptr<Communicator> duplicate() const override {
    MPI_Comm made = MPI_COMM_NULL;
    away("a split", [&] { MPI_Comm_dup(comm_, &made); });
    return std::make_unique<SimulatedRanks>(made, seat_, true);
  }
  std::unique_ptr<Rail> make_rail(const Communicator& rails, Link wanted, Link& used) const override {
    const MPI_Comm all = static_cast<const SimulatedRanks&>(rails).comm_;
    return std::make_unique<SimulatedRail>(
        away("the making of a rail", [&] { return make_mpi_rail(comm_, all, wanted, used); }), comm_);
  }

  bool same_ranks(const Communicator& other) const override {
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(comm_, static_cast<const SimulatedRanks&>(other).comm_, &result);
    return result == MPI_CONGRUENT || result == MPI_IDENT;
  }
  bool shares_heap() const override { return true; }
  const Machine& machine() const override { return *seat_.machine; }
  Processors processors() const override { return only(seat_.processor); }
  bool threads_are_free() const override { return false; }
  const char* thread_level() const override { return "single"; }

 private:
  MPI_Comm comm_;
  Seat seat_;
  bool own_;
};

}  // namespace

Machine machine_with(const NodeHardware& hardware, int processors) {
  Machine machine;
  machine.cores = processors;
  machine.domains.resize(static_cast<std::size_t>(hardware.domains));
  for (int p = 0; p < processors; ++p) {
    Processors& domain = machine.domains[static_cast<std::size_t>(p * hardware.domains / processors)];
    const Processors one = only(p);
    domain.resize(one.size());
    domain.back() |= one.back();
  }
  for (int c = 0; c < hardware.cards; ++c)
    machine.cards.push_back({"card" + std::to_string(c), c % hardware.domains});
  return machine;
}

std::unique_ptr<Communicator> make_ranks(MPI_Comm comm, int node, const Machine& machine, int processor) {
  return std::make_unique<SimulatedRanks>(comm, Seat{node, &machine, processor}, false);
}

}  // namespace forebay::simulate
