// The ranks that work on a file, as the engine sees them: of MPI, threads of one process, or simulated ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "exchange/link.hpp"
#include "machine/machine.hpp"

namespace forebay {

/// A group of ranks, numbered 0 … size-1. What changes nothing is const. Functions without another word are
/// collective, and called in the same order on all ranks. Where one returns false, the ranks cannot reach
/// each other.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  enum class Op { minimum, maximum, sum, any_bit };
  /// The same on all ranks, entry by entry, in place.
  virtual bool reduce(std::span<std::int64_t> values, Op op) const = 0;
  /// The least of some values and the sums of others; what a rank has put into shared memory before, the
  /// others find there afterwards. `meanwhile` runs while the others are waited for; it
  /// does not throw.
  virtual bool reduce(std::span<std::int64_t> least, std::span<std::int64_t> sums,
                      const std::function<void()>& meanwhile) const = 0;
  std::int64_t minimum(std::int64_t value) const {
    reduce({&value, 1}, Op::minimum);
    return value;
  }
  bool all(bool mine) const { return minimum(mine ? 1 : 0) != 0; }
  virtual bool broadcast(void* data, std::size_t bytes, int root) const = 0;
  virtual void barrier() const = 0;
  /// `bytes` bytes of every rank, in the order of ranks, on rank `root`, or on all (-1).
  virtual void gather(const void* mine, std::size_t bytes, void* all, int root) const = 0;
  /// Lists of any length, one after the other, on all ranks.
  virtual std::vector<std::int64_t> concatenate(std::span<const std::int64_t> mine) const = 0;

  /// A reduction to the least that goes on by itself; its values have to stay.
  class Started {
   public:
    virtual ~Started() = default;
    virtual bool done() = 0;  ///< where it failed, all values are the least there is
  };
  /// Null: it cannot be.
  virtual std::unique_ptr<Started> start_minimum(std::span<std::int64_t> values) const = 0;

  /// The ranks of one color, in the order of keys; null for a color below 0.
  virtual std::unique_ptr<Communicator> split(int color, int key) const = 0;
  /// Those that share memory with this one.
  virtual std::unique_ptr<Communicator> split_by_node() const = 0;
  /// The same ranks, whose messages meet no others. Where its ranks cannot agree any more, the program ends.
  virtual std::unique_ptr<Communicator> duplicate() const = 0;
  /// What joins the ranks to each other for the exchange between nodes (rank = node). This outlives it.
  /// `rails`: the ranks of all rails, which call this together, so that they can measure together; they find
  /// the same `used`.
  virtual std::unique_ptr<Rail> make_rail(const Communicator& rails, Link wanted, Link& used) const = 0;

  // Not collective:

  virtual bool same_ranks(const Communicator& other) const = 0;
  /// Whether this rank believes, without asking, that all of them share memory. True where all do.
  virtual bool is_on_one_node() const { return false; }
  /// Whether they are threads of one process, so that a node's memory may be its heap.
  virtual bool shares_heap() const { return false; }
  /// What this rank's node has; asking may take milliseconds. Where nobody knows: nothing.
  virtual const Machine& machine() const;
  /// Those on which this rank may run; empty: not known.
  virtual Processors processors() const { return {}; }
  /// What a rank calls while it waits for others, so that its messages leave; null: nothing.
  virtual void (*progress() const)() { return nullptr; }
  /// Whether any thread may call at any time.
  virtual bool threads_are_free() const { return true; }
  virtual const char* thread_level() const { return "multiple"; }
  /// Calls stay possible for whoever holds it, where nothing else says so.
  virtual std::shared_ptr<void> hold() const { return nullptr; }
  [[noreturn]] virtual void abort(const char* why) const;

  /// Finds out, while a rank waits long in a collective call, who is missing, and says so.
  class Search {
   public:
    virtual ~Search() = default;
    virtual void look_around(double seconds, bool all_here, const char* remedy) = 0;
  };
  /// `own`: on this nobody else sends messages. Null: nothing is said.
  virtual std::unique_ptr<Search> search(std::string_view call, std::string_view file, int patience_seconds,
                                         bool own) const;

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}

 private:
  int rank_;
  int size_;
};

}  // namespace forebay
