// Threads for ranks: a file and messages in plain memory, so that the thread sanitizer sees every access,
// with delays injected so that orders which only hold by luck do not hold.
#pragma once

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "exchange/link.hpp"
#include "storage/storage.hpp"

namespace forebay::test {

inline void dawdle(std::mt19937& random, int most_usec) {
  if (most_usec == 0 || random() % 4 != 0) return;
  std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(most_usec)));
}

// The file: plain memory. Owners write disjoint bytes, so no lock is needed, and the sanitizer tells when
// that is not so.
class MemoryStorage final : public Storage {
 public:
  MemoryStorage(std::vector<std::byte>& file, unsigned seed, int delay)
      : file_(file), random_(seed), delay_(delay) {}

  Status write(std::span<const Piece> pieces) override {
    for (const Piece& p : pieces) {
      dawdle(random_, delay_);
      if (fail_) return {Code::io, "injected"};
      std::memcpy(file_.data() + p.offset, p.data, static_cast<std::size_t>(p.length));
    }
    return {};
  }
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    dawdle(random_, delay_);
    std::memcpy(data, file_.data() + offset, static_cast<std::size_t>(length));
    return {};
  }
  void fail() { fail_ = true; }

 private:
  std::vector<std::byte>& file_;
  std::mt19937 random_;
  int delay_;
  bool fail_ = false;
};

// A rail whose messages are vectors that all its members see between two barriers.
class ThreadRail final : public Rail {
 public:
  struct Shared {
    explicit Shared(int nodes)
        : barrier(nodes),
          next(static_cast<std::size_t>(nodes)),
          sizes(static_cast<std::size_t>(nodes)),
          messages(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes)),
          values(static_cast<std::size_t>(nodes)),
          letters(static_cast<std::size_t>(nodes)) {}
    std::barrier<> barrier;
    std::vector<std::int64_t> next;
    std::vector<std::vector<std::int64_t>> sizes;
    std::vector<std::vector<std::byte>> messages;
    std::vector<std::vector<std::int64_t>> values;
    std::vector<std::span<const Letter>> letters;
  };
  ThreadRail(Shared& shared, int node) : s_(shared), node_(node) {}

  Status agree(std::span<const std::int64_t> send_bytes, std::int64_t next, std::int64_t& least) override {
    const auto me = static_cast<std::size_t>(node_);
    s_.next[me] = next;
    s_.sizes[me].assign(send_bytes.begin(), send_bytes.end());
    s_.barrier.arrive_and_wait();
    least = *std::min_element(s_.next.begin(), s_.next.end());
    s_.barrier.arrive_and_wait();
    return {};
  }
  Status transfer(const Pack& pack, const Unpack& unpack, Counters& counters) override {
    const auto me = static_cast<std::size_t>(node_);
    const std::size_t nodes = s_.next.size();
    for (std::size_t n = 0; n < nodes; ++n) {
      auto& message = s_.messages[me * nodes + n];
      message.resize(static_cast<std::size_t>(s_.sizes[me][n]));
      if (message.empty()) continue;
      pack(static_cast<int>(n), message);
      ++counters.messages;
    }
    s_.barrier.arrive_and_wait();
    Status status;
    for (std::size_t n = 0; n < nodes; ++n) {
      const auto& message = s_.messages[n * nodes + me];
      if (!message.empty() && !unpack(static_cast<int>(n), message)) status = {Code::internal, "malformed"};
    }
    s_.barrier.arrive_and_wait();
    return status;
  }
  Status least(std::span<std::int64_t> values) override {
    s_.values[static_cast<std::size_t>(node_)].assign(values.begin(), values.end());
    s_.barrier.arrive_and_wait();
    for (const auto& others : s_.values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::min(values[i], others[i]);
    }
    s_.barrier.arrive_and_wait();
    return {};
  }
  Status post(std::span<const Letter> letters, const Unpack& take, Counters& counters) override {
    s_.letters[static_cast<std::size_t>(node_)] = letters;
    counters.messages += static_cast<std::int64_t>(letters.size());
    s_.barrier.arrive_and_wait();
    Status status;
    for (std::size_t n = 0; n < s_.letters.size(); ++n) {
      for (const Letter& letter : s_.letters[n]) {
        if (letter.node == node_ && !take(static_cast<int>(n), letter.bytes))
          status = {Code::internal, "malformed"};
      }
    }
    s_.barrier.arrive_and_wait();
    return status;
  }

 private:
  Shared& s_;
  int node_;
};

/// The shared memory of each node.
class NodeMemories {
 public:
  NodeMemories(int nodes, std::size_t bytes) {
    for (int n = 0; n < nodes; ++n) {
      memory_.emplace_back(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
      std::memset(memory_.back().get(), 0, bytes);
    }
  }
  void* of(int node) const { return memory_[static_cast<std::size_t>(node)].get(); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::vector<std::unique_ptr<void, Free>> memory_;
};

}  // namespace forebay::test
