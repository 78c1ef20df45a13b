// Sizes by one Alltoall a round; bytes by MPI_Put into allocated inboxes under one long lock_all epoch, or by
// Isend in chunks. Letters by synchronous sends, whose end a barrier that does not block makes known
// ("Scalable Communication Protocols for Dynamic Sparse Data Exchange", Hoefler, Siebert, Lumsdaine 2010).
#include "mpi/rail.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/waiting.hpp"
#include "mpi/handles.hpp"

namespace forebay {
namespace {

// A message of 64 KiB and more goes by rendezvous over TCP; cut below that, messages keep up with puts
// (measured on veth).
constexpr std::int64_t kChunk = 60 << 10;
// An inbox: large ones cost hundreds of milliseconds to allocate. What does not fit goes by messages.
constexpr std::int64_t kInboxBytes = 4 << 20;
// Bound on what is received at a time.
constexpr std::int64_t kReceiveBytes = 4 << 20;
constexpr int kTag = 4711;
// Letters of one call and of the next have two tags by turns: a node that is through may send already what
// others have to wait with.
constexpr int kLetterTag = 4712;
constexpr std::size_t kMostReceives = 16;  // at a time

class MpiRail final : public Rail {
 public:
  MpiRail(MPI_Comm comm, bool put) : comm_(comm), nodes_(mpi::size(comm)), node_(mpi::rank(comm)) {
    const auto count = static_cast<std::size_t>(nodes_);
    send_.resize(count);
    receive_.resize(count);
    displacement_.resize(count);
    inbox_at_.resize(count);
    table_out_.resize(2 * count);
    table_in_.resize(2 * count);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);  // every code below is looked at
    if (put) open_inbox();
  }

  ~MpiRail() override {
    if (key_ == MPI_KEYVAL_INVALID) {
      close_inbox();
    } else {
      MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
    }
  }
  MpiRail(const MpiRail&) = delete;
  MpiRail& operator=(const MpiRail&) = delete;

  double rate() const override { return rate_; }
  void set_rate(double bytes_per_second) { rate_ = bytes_per_second; }
  bool has_inbox() const { return static_cast<bool>(window_); }
  void use_puts(bool puts) { puts_ = puts && has_inbox(); }

  Status agree(std::span<const std::int64_t> send_bytes, std::int64_t next, std::int64_t& least) override {
    for (std::size_t n = 0; n < send_.size(); ++n) {
      send_[n] = send_bytes[n];
      table_out_[2 * n] = send_bytes[n];
      table_out_[2 * n + 1] = next;
    }
    must(MPI_Alltoall(table_out_.data(), 2, MPI_INT64_T, table_in_.data(), 2, MPI_INT64_T, comm_));
    least = next;
    std::int64_t at = 0;
    for (std::size_t n = 0; n < receive_.size(); ++n) {
      receive_[n] = table_in_[2 * n];
      inbox_at_[n] = at;
      at += receive_[n];
      least = std::min(least, table_in_[2 * n + 1]);
    }
    if (puts_) {
      // Where my bytes begin in each inbox: after those of all lower nodes.
      must(MPI_Exscan(send_.data(), displacement_.data(), nodes_, MPI_INT64_T, MPI_SUM, comm_));
      if (node_ == 0) std::fill(displacement_.begin(), displacement_.end(), 0);
    }
    return {};
  }

  Status transfer(const Pack& pack, const Unpack& unpack, Counters& counters) override {
    pack_all(pack, counters);
    std::vector<MPI_Request> sends;
    Status status;
    for (int n = 0; n < nodes_; ++n) {
      const auto i = static_cast<std::size_t>(n);
      if (send_[i] == 0 || n == node_) continue;
      if (puts_ && displacement_[i] + send_[i] <= kInboxBytes) {
        status.update(outcome(MPI_Put(packed(n), static_cast<int>(send_[i]), MPI_BYTE, n, displacement_[i],
                                      static_cast<int>(send_[i]), MPI_BYTE, window_.get()),
                              n));
        ++counters.puts;
      } else {
        status.update(send_chunks(packed(n), send_[i], n, sends));
      }
    }
    if (puts_) {
      // Everybody is inside this call, so every put's target makes progress.
      status.update(outcome(MPI_Win_flush_all(window_.get()), node_));
      must(MPI_Barrier(comm_));
      status.update(outcome(MPI_Win_sync(window_.get()), node_));
      for (std::size_t n = 0; n < receive_.size(); ++n) {
        if (receive_[n] > 0 && comes_by_put(n)) take(unpack, n, inbox_ + inbox_at_[n], status);
      }
    }
    status.update(receive_messages(unpack));
    status.update(
        outcome(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE), node_));
    return status;
  }

  Status least(std::span<std::int64_t> values) override {
    must(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MIN,
                       comm_));
    return {};
  }

  Status post(std::span<const Letter> letters, const Unpack& take, Counters& counters) override {
    const int tag = kLetterTag + static_cast<int>(posts_++ & 1);
    std::vector<MPI_Request> sends(letters.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const Letter& letter = letters[i];
      must(MPI_Issend(letter.bytes.data(), static_cast<int>(letter.bytes.size()), MPI_BYTE, letter.node, tag,
                      comm_, &sends[i]));
      ++counters.messages;
      counters.message_bytes += static_cast<std::int64_t>(letter.bytes.size());
    }
    Status status;
    Arrivals arriving;
    MPI_Request all_sent = MPI_REQUEST_NULL;
    bool entered = false;
    auto arrived = [&] {
      bool moved = receive_some(tag, arriving);
      moved = take_some(take, arriving, status) || moved;
      int done = 0;
      if (!entered) {
        must(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE));
        if (done != 0) {
          must(MPI_Ibarrier(comm_, &all_sent));
          entered = true;
        }
        return false;
      }
      must(MPI_Test(&all_sent, &done, MPI_STATUS_IGNORE));
      // Whatever was sent has been matched: nothing comes any more.
      return done != 0 && !moved && arriving.requests.empty();
    };
    poll_until({}, 64, 0, 0, arrived);
    return status;
  }

 private:
  /// Letters on their way in.
  struct Arrivals {
    std::vector<MPI_Request> requests;
    std::vector<std::pair<int, std::vector<std::byte>>> letters;  // node, bytes
    std::int64_t bytes = 0;
  };

  bool receive_some(int tag, Arrivals& arriving) const {
    bool any = false;
    while (arriving.requests.size() < kMostReceives &&
           (arriving.requests.empty() || arriving.bytes < kReceiveBytes)) {
      int there = 0;
      MPI_Status from;
      must(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &from));
      if (there == 0) break;
      int count = 0;
      MPI_Get_count(&from, MPI_BYTE, &count);
      arriving.letters.emplace_back(from.MPI_SOURCE, std::vector<std::byte>(static_cast<std::size_t>(count)));
      arriving.requests.push_back(MPI_REQUEST_NULL);
      must(MPI_Irecv(arriving.letters.back().second.data(), count, MPI_BYTE, from.MPI_SOURCE, tag, comm_,
                     &arriving.requests.back()));
      arriving.bytes += count;
      any = true;
    }
    return any;
  }

  bool take_some(const Unpack& take, Arrivals& arriving, Status& status) const {
    bool any = false;
    for (std::size_t i = 0; i < arriving.requests.size();) {
      int done = 0;
      must(MPI_Test(&arriving.requests[i], &done, MPI_STATUS_IGNORE));
      if (done == 0) {
        ++i;
        continue;
      }
      const auto& [node, letter] = arriving.letters[i];
      if (!take(node, letter))
        status.update(
            {Code::internal, "a message from node " + std::to_string(node) + " was not well-formed"});
      arriving.bytes -= static_cast<std::int64_t>(letter.size());
      std::swap(arriving.letters[i], arriving.letters.back());
      std::swap(arriving.requests[i], arriving.requests.back());
      arriving.letters.pop_back();
      arriving.requests.pop_back();
      any = true;
    }
    return any;
  }

  void open_inbox() {
    // Whether one-sided communication works at all is found out here, and agreed on.
    int good =
        MPI_Win_allocate(kInboxBytes, 1, MPI_INFO_NULL, comm_, &inbox_, window_.address()) == MPI_SUCCESS ? 1
                                                                                                          : 0;
    must(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm_));
    if (good == 0) {
      window_.release();  // not ours to free where others failed: the collective free would wait for them
      return;
    }
    MPI_Win_set_errhandler(window_.get(), MPI_ERRORS_RETURN);
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_.get()));
    close_in_turn();
  }

  void close_inbox() {
    puts_ = false;
    if (window_ && mpi::alive()) MPI_Win_unlock_all(window_.get());
    window_.reset();
  }

  // Freeing a window waits for the others, so that ranks which free two in different orders would wait for
  // ever; and what is left, MPI frees in any order. MPI_Finalize deletes attributes of MPI_COMM_SELF, the
  // last one first: with one for each window they go in the order in which they came, of whatever library
  // they are. Files that are closed after that send messages.
  void close_in_turn() {
    if (!mpi::world_works()) return;
    MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void* value, void*) -> int {
          auto* const rail = static_cast<MpiRail*>(value);
          rail->close_inbox();
          MPI_Comm_free_keyval(&rail->key_);
          return MPI_SUCCESS;
        },
        &key_, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key_, this);
  }

  // Where the peers cannot even agree on a round, none of them can go on in order; an end that is said beats
  // waiting for ever.
  void must(int error) const {
    if (error == MPI_SUCCESS) return;
    const std::string text = mpi::error_text(error);
    std::fprintf(stderr, "forebay: aggregators of different nodes cannot agree any more: %s\n", text.c_str());
    MPI_Abort(comm_, 1);
  }

  static Status outcome(int error, int node) {
    if (error == MPI_SUCCESS) return {};
    return {Code::mpi,
            "the exchange with node " + std::to_string(node) + " failed: " + mpi::error_text(error)};
  }

  std::byte* packed(int node) { return packed_.data() + packed_at_[static_cast<std::size_t>(node)]; }

  void pack_all(const Pack& pack, Counters& counters) {
    packed_at_.assign(static_cast<std::size_t>(nodes_), 0);
    std::size_t total = 0;
    for (int n = 0; n < nodes_; ++n) {
      const auto i = static_cast<std::size_t>(n);
      packed_at_[i] = total;
      if (n != node_) total += static_cast<std::size_t>(send_[i]);
    }
    if (packed_.size() < total) packed_.resize(total);
    for (int n = 0; n < nodes_; ++n) {
      const auto i = static_cast<std::size_t>(n);
      if (n == node_ || send_[i] == 0) continue;
      pack(n, {packed(n), static_cast<std::size_t>(send_[i])});
      ++counters.messages;
      counters.message_bytes += send_[i];
    }
  }

  Status send_chunks(const std::byte* data, std::int64_t bytes, int node,
                     std::vector<MPI_Request>& requests) const {
    Status status;
    for (std::int64_t at = 0; at < bytes; at += kChunk) {
      MPI_Request request = MPI_REQUEST_NULL;
      status.update(outcome(MPI_Isend(data + at, static_cast<int>(std::min(kChunk, bytes - at)), MPI_BYTE,
                                      node, kTag, comm_, &request),
                            node));
      requests.push_back(request);
    }
    return status;
  }

  bool comes_by_put(std::size_t node) const {
    return puts_ && inbox_at_[node] + receive_[node] <= kInboxBytes;
  }

  void take(const Unpack& unpack, std::size_t node, const std::byte* at, Status& status) const {
    const int from = static_cast<int>(node);
    if (!unpack(from, {at, static_cast<std::size_t>(receive_[node])}))
      status.update({Code::internal, "a message from node " + std::to_string(from) + " was not well-formed"});
  }

  Status receive_messages(const Unpack& unpack) {
    Status status;
    std::vector<MPI_Request> requests;
    std::vector<std::pair<std::size_t, std::int64_t>> group;  // node, place in the buffer
    for (std::size_t node = 0; node < receive_.size();) {
      group.clear();
      requests.clear();
      std::int64_t total = 0;
      // As many sources as fit the bound, and at least one.
      for (; node < receive_.size(); ++node) {
        if (receive_[node] == 0 || comes_by_put(node)) continue;
        if (!group.empty() && total + receive_[node] > kReceiveBytes) break;
        group.emplace_back(node, total);
        total += receive_[node];
      }
      if (received_.size() < static_cast<std::size_t>(total))
        received_.resize(static_cast<std::size_t>(total));
      for (const auto& [source, at] : group) {
        const std::int64_t bytes = receive_[source];
        for (std::int64_t done = 0; done < bytes; done += kChunk) {
          MPI_Request request = MPI_REQUEST_NULL;
          const auto part = static_cast<int>(std::min(kChunk, bytes - done));
          status.update(outcome(MPI_Irecv(received_.data() + at + done, part, MPI_BYTE,
                                          static_cast<int>(source), kTag, comm_, &request),
                                static_cast<int>(source)));
          requests.push_back(request);
        }
      }
      status.update(outcome(
          MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), node_));
      for (const auto& [source, at] : group) take(unpack, source, received_.data() + at, status);
    }
    return status;
  }

  MPI_Comm comm_;
  int nodes_;
  int node_;
  bool puts_ = false;
  double rate_ = 0;
  unsigned posts_ = 0;
  mpi::Win window_;
  int key_ = MPI_KEYVAL_INVALID;
  std::byte* inbox_ = nullptr;
  std::vector<std::int64_t> send_, receive_, displacement_, inbox_at_, table_out_, table_in_;
  std::vector<std::byte> packed_, received_;
  std::vector<std::size_t> packed_at_;
};

constexpr std::int64_t kMeasuredBytes = 256 << 10;
constexpr int kMeasuredRounds = 3;

// Seconds for a few rounds of a typical message to the next node on every rail at once, the slowest rank's.
double measure(MpiRail& rail, MPI_Comm comm, MPI_Comm rails) {
  constexpr std::int64_t bytes = kMeasuredBytes;
  constexpr int rounds = kMeasuredRounds;
  const int nodes = mpi::size(comm);
  const int node = mpi::rank(comm);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(nodes), 0);
  sizes[static_cast<std::size_t>((node + 1) % nodes)] = bytes;
  Counters ignored;
  double seconds = 0;
  for (int i = 0; i < rounds + 1; ++i) {
    MPI_Barrier(rails);
    const double begin = MPI_Wtime();
    std::int64_t least = 0;
    (void)rail.agree(sizes, 0, least);
    (void)rail.transfer([](int, std::span<std::byte> out) { std::memset(out.data(), 1, out.size()); },
                        [](int, std::span<const std::byte>) { return true; }, ignored);
    if (i > 0) seconds += MPI_Wtime() - begin;  // the first round sets connections up
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, rails);
  return seconds;
}

bool all(bool mine, MPI_Comm rails) {
  int least = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, rails);
  return least != 0;
}

}  // namespace

std::unique_ptr<Rail> make_mpi_rail(MPI_Comm comm, MPI_Comm rails, forebay::Link wanted,
                                    forebay::Link& used) {
  auto rail = std::make_unique<MpiRail>(comm, wanted != Link::message);
  bool puts = wanted != Link::message && all(rail->has_inbox(), rails);
  if (wanted == Link::automatic && puts) {
    rail->use_puts(false);
    const double messages = measure(*rail, comm, rails);
    rail->use_puts(true);
    const double by_puts = measure(*rail, comm, rails);
    puts = by_puts < messages;
    rail->set_rate(kMeasuredRounds * static_cast<double>(kMeasuredBytes) / std::min(by_puts, messages));
  }
  rail->use_puts(puts);
  used = puts ? Link::put : Link::message;
  return rail;
}

}  // namespace forebay
