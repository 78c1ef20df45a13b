// The rounds of a collective read: ranks mark what they want, owners read it once, nodes get what they asked
// for, ranks pick their pieces. Knows no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/flush.hpp"
#include "request/request.hpp"

namespace forebay {

/// One rank's part in a collective read, in one of two ways, each with one barrier of the node for a round.
/// Where most of the range is wanted, and on one node, owners read all of it. Else they read only what
/// somebody marked, and a rank keeps what it takes from its cursors for a round until the bytes are there.
class FetchRun {
 public:
  /// `gap`: bytes between two wanted parts that an owner rather reads than begins another read.
  FetchRun(const Flush& flush, std::span<const Get> gets, std::int64_t gap);
  ~FetchRun();
  FetchRun(const FetchRun&) = delete;

  /// `hull`: all that any rank wants lies there, and begins at its beginning. Between nodes all runs of all
  /// ranks, and all stripes, begin and end on multiples of 1 << shift. Both agreed by all ranks, which also
  /// need a barrier before anybody uses the window again.
  void begin(Extent hull, int shift);
  /// The first way: on one node.
  void begin_whole(Extent hull);
  /// Does one round. False: it was the last one. All ranks take steps of several runs, each over a window of
  /// its own, in the same order.
  bool step();
  /// After the last step: this rank's own outcome.
  const Status& status() const { return status_; }

  /// All steps at once; the outcome.
  Status run(Extent hull, int shift);
  Status run_whole(Extent hull);

 private:
  /// Runs of one request that belong to a round.
  struct Part {
    Sink* sink;
    std::size_t begin, end;  ///< in runs
  };
  struct Round {
    std::int64_t base = 0;
    std::vector<Run> runs;  ///< as many as there ever were; parts tell which count
    std::vector<Part> parts;
  };
  /// A rank that asks for more in one round takes the rest in the next one, at the same place: 3 MiB of runs.
  static constexpr std::size_t kMostRuns = std::size_t{1} << 17;

  bool within(std::span<const Run> runs, std::int64_t base, std::int64_t limit);
  void take(std::int64_t base, int parity);
  void pick(int parity);
  void pick_at_once(std::int64_t base, int parity);
  void read_whole(std::int64_t base, int parity);
  std::int64_t next_round(int parity, std::int64_t next);
  std::int64_t next() const;
  bool step_whole();
  bool step_marked();
  Status finish();
  template <class Work>
  void attempt(Work&& work);

  class Reader;

  Flush f_;
  std::int64_t gap_;
  Extent hull_;
  std::int64_t base_ = 0;  // of the next round
  int round_ = 0;
  bool whole_ = false;
  std::unique_ptr<Reader> reader_;            // on aggregators
  std::unique_ptr<ActiveItems<Get>> active_;  // null where memory lacks
  std::array<Round, 2> rounds_;
  Status status_;
  bool lost_ = false;  // this rank asks for nothing more
};

}  // namespace forebay
