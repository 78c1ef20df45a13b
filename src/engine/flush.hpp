// The rounds of a collective flush: scatter into the node's window, barrier, exchange between nodes, write.
// Knows no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "base/status.hpp"
#include "exchange/link.hpp"
#include "exchange/node_window.hpp"
#include "layout/file_domains.hpp"
#include "request/request.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

template <class Item>
class ActiveItems;

/// Working memory of an aggregator, kept between flushes.
struct FlushScratch {
  std::vector<std::uint64_t> merged;  ///< a round's marks, all ranks of the node together
  std::vector<std::byte> block;       ///< a block of the file, where holes are filled from it
  std::vector<Piece> pieces;
};

/// One rank's part in a flush. `rail` is null on ranks that do not aggregate, and on one node.
struct Flush {
  NodeWindow& window;
  const FileDomains& domains;
  Storage& storage;
  Counters& counters;
  FlushScratch& scratch;
  std::uint64_t& sequence;  ///< rounds so far over this window's life, the same on all ranks of the node
  Rail* rail = nullptr;
  int node = 0;
  int nodes = 1;
  int aggregator = -1;             ///< this rank's rail number, or -1
  int writes_for = -1;             ///< of wide rounds: the rail whose stripes this rank writes, or -1
  bool fill_holes = true;          ///< whether blocks with holes may be read, merged and written whole
  const OpenMark* mark = nullptr;  ///< while this says so; null: always
};

/// Collective over the node, after the last write: `mine`, or Code::peer where another rank of the node has
/// failed. Before the first round nobody has (NodeWindow::set_failed).
Status outcome_of_node(const Flush& flush, Status mine);

/// Moves all puts to the file, in rounds. Between two flushes over one window lies a barrier of all its
/// ranks.
///
/// The first round may be scattered on a guess of where it begins, before the ranks agree on that: where all
/// guessed the same, it stands; else everybody begins again.
class FlushRun {
 public:
  FlushRun(const Flush& flush, std::span<const Put> puts);
  ~FlushRun();
  FlushRun(const FlushRun&) = delete;

  /// Scatters the round at `base`, which holds all of this rank's data. All ranks that guess have the same
  /// `shift`, and this rank's runs begin and end on multiples of 1 << shift. Ranks without data (`any` false)
  /// have to call this, too. False: another rank of the node has guessed otherwise, and nothing was done.
  bool guess(std::int64_t base, int shift, bool any);

  /// What was scattered in a guess comes to nothing, and another run does it all.
  void forget_guess();

  /// How it went so far; a failure in a guess is for the agreement that follows it. After the last step it is
  /// this node's outcome: a failure of another rank of the node is Code::peer. Whoever flushes over several
  /// nodes agrees on the result afterwards.
  const Status& status() const { return status_; }

  /// From the start. `first`: the lowest offset that any rank puts; all runs of all ranks begin and end on
  /// multiples of 1 << shift; both agreed by all ranks.
  void begin(std::int64_t first, int shift);
  /// Does one round. False: it was the last one, and all owners of this node have written. All ranks take
  /// steps of several runs, each over a window of its own, in the same order.
  bool step();

  /// All steps at once; the outcome.
  Status run(std::int64_t first, int shift);

  /// Goes on with the guessed round, where all ranks with data have guessed `base`: there is no other.
  /// `hull`: what all ranks put, together. On one node this waits for the owners of that, not for everybody.
  Status run_guessed(std::int64_t base, Extent hull);

 private:
  template <class Work>
  void attempt(Work&& work);
  void scatter(std::int64_t base, int parity);
  void prepare();
  void write_guessed();
  Status finish();

  class Writer;

  Flush f_;
  std::unique_ptr<ActiveItems<Put>> active_;  // null where memory lacks
  std::unique_ptr<Writer> writer_;            // on aggregators
  Status status_;
  std::int64_t base_ = 0;  // of the next round
  Extent hull_{0, kNoOffset};
  int round_ = 0;
  bool guessed_ = false;  // the one round is in the window
  std::int64_t guessed_pieces_ = 0, guessed_bytes_ = 0;
};

}  // namespace forebay
