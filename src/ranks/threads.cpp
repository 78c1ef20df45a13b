// Every operation is one exchange: each rank shows the others an address, between two barriers all read.
#include "ranks/threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "base/per_process.hpp"

namespace forebay {
namespace {

/// One rank: its number among all threads, its node, and its number there.
struct Member {
  int thread;
  int node;
  int local;
  bool operator==(const Member&) const = default;
};

/// What the ranks of one communicator share.
class Group {
 public:
  explicit Group(std::vector<Member> members, const PretendNodes* nodes = nullptr)
      : nodes_(nodes), members_(std::move(members)), shown_(members_.size()) {}

  int size() const { return static_cast<int>(members_.size()); }
  const PretendNodes* nodes() const { return nodes_; }
  const Member& member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  bool same(const Group& other) const { return members_ == other.members_; }

  void barrier() {
    std::unique_lock lock(mutex_);
    const unsigned long generation = generation_;
    if (++arrived_ == members_.size()) {
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return generation_ != generation; });
    }
  }

  /// Calls read(rank, what that rank shows) for all ranks, in order.
  template <class T, class Read>
  void exchange(int rank, const T& mine, Read&& read) {
    shown_[static_cast<std::size_t>(rank)] = &mine;
    barrier();
    for (std::size_t r = 0; r < shown_.size(); ++r)
      read(static_cast<int>(r), *static_cast<const T*>(shown_[r]));
    barrier();
  }

 private:
  const PretendNodes* nodes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
  unsigned long generation_ = 0;
  std::vector<Member> members_;
  std::vector<const void*> shown_;
};

class ThreadRail final : public Rail {
 public:
  ThreadRail(std::shared_ptr<Group> group, int node, int nodes)
      : group_(std::move(group)), node_(node), send_(static_cast<std::size_t>(nodes)), out_(send_.size()) {}

  Status agree(std::span<const std::int64_t> send_bytes, std::int64_t next, std::int64_t& least) override {
    std::copy(send_bytes.begin(), send_bytes.end(), send_.begin());
    least = next;
    group_->exchange(node_, next, [&](int, const std::int64_t& other) { least = std::min(least, other); });
    return {};
  }

  Status transfer(const Pack& pack, const Unpack& unpack, Counters& counters) override {
    for (std::size_t n = 0; n < out_.size(); ++n) {
      out_[n].resize(static_cast<int>(n) == node_ ? 0 : static_cast<std::size_t>(send_[n]));
      if (out_[n].empty()) continue;
      pack(static_cast<int>(n), out_[n]);
      ++counters.messages;
      counters.message_bytes += static_cast<std::int64_t>(out_[n].size());
    }
    Status status;
    group_->exchange(node_, out_, [&](int from, const std::vector<std::vector<std::byte>>& all) {
      const auto& message = all[static_cast<std::size_t>(node_)];
      if (!message.empty() && !unpack(from, message))
        status.update(
            {Code::internal, "a message from node " + std::to_string(from) + " was not well-formed"});
    });
    return status;
  }

  Status least(std::span<std::int64_t> values) override {
    const std::vector<std::int64_t> mine(values.begin(), values.end());
    group_->exchange(node_, mine, [&](int, const std::vector<std::int64_t>& theirs) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::min(values[i], theirs[i]);
    });
    return {};
  }

  Status post(std::span<const Letter> letters, const Unpack& take, Counters& counters) override {
    for (const Letter& letter : letters) {
      ++counters.messages;
      counters.message_bytes += static_cast<std::int64_t>(letter.bytes.size());
    }
    Status status;
    group_->exchange(node_, letters, [&](int from, const std::span<const Letter>& all) {
      for (const Letter& letter : all) {
        if (letter.node == node_ && !take(from, letter.bytes))
          status.update(
              {Code::internal, "a message from node " + std::to_string(from) + " was not well-formed"});
      }
    });
    return status;
  }

 private:
  std::shared_ptr<Group> group_;
  int node_;
  std::vector<std::int64_t> send_;
  std::vector<std::vector<std::byte>> out_;  // by node
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Group> group, int rank)
      : Communicator(rank, group->size()), group_(std::move(group)) {}

  bool reduce(std::span<std::int64_t> values, Op op) const override {
    const std::vector<std::int64_t> mine(values.begin(), values.end());
    group_->exchange(rank(), mine, [&](int other, const std::vector<std::int64_t>& theirs) {
      for (std::size_t i = 0; i < mine.size() && other != rank(); ++i)
        values[i] = combine(values[i], theirs[i], op);
    });
    return true;
  }
  bool reduce(std::span<std::int64_t> least, std::span<std::int64_t> sums,
              const std::function<void()>& meanwhile) const override {
    if (meanwhile) meanwhile();
    return reduce(least, Op::minimum) && reduce(sums, Op::sum);
  }
  bool broadcast(void* data, std::size_t bytes, int root) const override {
    void* const mine = data;
    group_->exchange(rank(), mine, [&](int other, void* const& theirs) {
      if (other == root && root != rank()) std::memcpy(data, theirs, bytes);
    });
    return true;
  }
  void barrier() const override { group_->barrier(); }
  void gather(const void* mine, std::size_t bytes, void* all, int root) const override {
    group_->exchange(rank(), mine, [&](int other, const void* const& theirs) {
      if (root < 0 || root == rank())
        std::memcpy(static_cast<std::byte*>(all) + static_cast<std::size_t>(other) * bytes, theirs, bytes);
    });
  }
  std::vector<std::int64_t> concatenate(std::span<const std::int64_t> mine) const override {
    std::vector<std::int64_t> all;
    group_->exchange(rank(), mine, [&](int, const std::span<const std::int64_t>& theirs) {
      all.insert(all.end(), theirs.begin(), theirs.end());
    });
    return all;
  }
  std::unique_ptr<Started> start_minimum(std::span<std::int64_t>) const override { return nullptr; }

  std::unique_ptr<Communicator> split(int color, int key) const override {
    std::vector<std::pair<int, int>> chosen;  // key and rank, of this color
    group_->exchange(rank(), std::pair(color, key), [&](int other, const std::pair<int, int>& theirs) {
      if (theirs.first == color) chosen.emplace_back(theirs.second, other);
    });
    std::sort(chosen.begin(), chosen.end());
    const int first = chosen.front().second;
    std::shared_ptr<Group> made;
    if (color >= 0 && first == rank()) {
      std::vector<Member> members;
      for (const auto& [k, r] : chosen) members.push_back(group_->member(r));
      made = std::make_shared<Group>(std::move(members), group_->nodes());
    }
    std::shared_ptr<Group> found;
    group_->exchange(rank(), made, [&](int other, const std::shared_ptr<Group>& theirs) {
      if (color >= 0 && other == first) found = theirs;
    });
    if (color < 0) return nullptr;
    const auto me = std::find(chosen.begin(), chosen.end(), std::pair(key, rank()));
    return std::make_unique<ThreadCommunicator>(std::move(found), static_cast<int>(me - chosen.begin()));
  }
  std::unique_ptr<Communicator> split_by_node() const override {
    return split(group_->member(rank()).node, rank());
  }
  std::unique_ptr<Communicator> duplicate() const override { return split(0, rank()); }
  std::unique_ptr<Rail> make_rail(const Communicator&, Link, Link& used) const override {
    used = Link::message;
    return std::make_unique<ThreadRail>(group_, rank(), size());
  }

  bool same_ranks(const Communicator& other) const override {
    return group_->same(*static_cast<const ThreadCommunicator&>(other).group_);
  }
  bool shares_heap() const override { return true; }
  const Machine& machine() const override {
    return group_->nodes() != nullptr ? group_->nodes()->machine : Communicator::machine();
  }
  Processors processors() const override {
    const PretendNodes* const nodes = group_->nodes();
    const Member& me = group_->member(rank());
    return nodes != nullptr ? nodes->processors[static_cast<std::size_t>(me.local)] : Processors();
  }

 private:
  static std::int64_t combine(std::int64_t a, std::int64_t b, Op op) {
    switch (op) {
      case Op::minimum:
        return std::min(a, b);
      case Op::maximum:
        return std::max(a, b);
      case Op::sum:
        return a + b;
      default:
        return a | b;
    }
  }

  std::shared_ptr<Group> group_;
};

}  // namespace

void run_as_ranks(int ranks, int ranks_per_node, const std::function<void(const Communicator&)>& work,
                  const PretendNodes* nodes) {
  std::vector<Member> members;
  for (int r = 0; r < ranks; ++r) members.push_back({r, r / ranks_per_node, r % ranks_per_node});
  const auto all = std::make_shared<Group>(std::move(members), nodes);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const PretendProcess process;
      work(ThreadCommunicator(all, r));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace forebay
