// What one open file is made of; for the parts of the engine that share it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/counters.hpp"
#include "engine/agreement.hpp"
#include "engine/bypass.hpp"
#include "engine/core_file.hpp"
#include "engine/guess.hpp"
#include "engine/kept_on_node.hpp"
#include "engine/node_set.hpp"
#include "engine/open_again.hpp"
#include "engine/seat.hpp"
#include "engine/sieve.hpp"
#include "engine/write_behind.hpp"
#include "layout/layout.hpp"
#include "mpi/handles.hpp"
#include "storage/storage.hpp"
#include "storage/stored_file.hpp"

namespace forebay {

inline constexpr std::int64_t kDefaultStripe = 512 << 10;

struct CoreFile::State {
  FileOptions options;
  Settings settings;
  Seat seat;
  std::shared_ptr<NodeSet> nodes;  ///< the seat's
  bool windowed = false;           ///< whether that has a window for this file's rounds, on all ranks
  std::int64_t share_to_keep = 0;  ///< bytes a rank; the same on all ranks
  mpi::Comm comm;
  StoredFile file;
  Storage* storage = nullptr;  ///< the file's, while it is open
  Layout layout{kDefaultStripe, kDefaultStripe, 1};
  Counters counters;
  std::string reported_path;  ///< rank 0, where a report is asked for
  Bypass bypass;
  Sieve sieve;
  std::optional<Sieve::Passing> given_away;  ///< MPI-IO's handle, to the program
  std::optional<Sieve::Passing> outside;     ///< between begin_outside and end_outside
  Guess guess;
  Status deferred;
  bool readable = true;
  // in commit mode one of these; or the first for collective writes and the second for independent ones
  std::unique_ptr<WriteBehind> behind;
  std::unique_ptr<KeptOnNode> on_node;
  std::optional<OpenAgain> again;  ///< goes before these
  /// Nothing is kept where this process sees the file in two ways.
  bool twice() const { return again && again->twice(); }
  bool memory_is_short = false;  ///< the segments are smaller than they might be: none stay for the next file
  bool independent = false;      ///< ranks may have put by themselves, since all said so; the same on all

  // window_use.cpp
  class WindowUse;
  /// What memory a rank, and its node, have for this file; the least of each is taken.
  enum : std::size_t { kRoundThatFits, kShare, kCapacity, kAlone, kMemoryOffers };
  void offer_memory(std::span<std::int64_t> out) const;
  std::int64_t wanted_round(std::int64_t stripe) const;
  Layout fit(std::int64_t stripe, std::int64_t round, std::int64_t most) const;
  /// Collective, for layout's rounds; without shared memory it changes nodes and layout.
  Status make_window(std::span<const std::int64_t> memory);
  Status do_without_shared_memory(Status why);
  Status move_to_window(Window*& out);
  void take(Seat next);
  SetWish wish() const;

  // open.cpp
  std::int64_t choose_stripe() const;
  /// Collective: opens the file, and chooses how it is stored and cut. `memory`: what is offered for it.
  /// `mine`: how what came before stands on this rank.
  Status open_stored(const StoredFile::Request& request, std::int64_t led, std::span<std::int64_t> memory,
                     Status mine);

  Flush flush_over(Window& window);
  Status write_now(std::span<const Put> puts);
  /// Independent, in strict mode.
  Status write_strictly(std::span<const Put> puts);
  /// Where ranks that write by themselves tell each other; null where no block is completed by one alone.
  NodeWindow* gate() const;
  Status flush_together(std::span<const Put> puts, Status mine, std::span<std::int64_t> agree_max);
  void discard(std::span<const Put> puts);
  Status fetch_together(std::span<const Get> gets, std::span<const Get> direct, Status mine);
  /// Collective: the least of all ranks' values, entry by entry, in place, and the sums of others.
  void agree(std::span<std::int64_t> least, std::span<std::int64_t> sums = {},
             const std::function<void()>& meanwhile = nullptr);
  void agree(Agreement& agreement, const std::function<void()>& meanwhile = nullptr);
  /// Collective: how all ranks have done, where `mine` is how this one has.
  Status outcome(const Status& mine);

  // write_behind.cpp
  /// Collective: keeps all ranks' puts in their pools, or flushes these and what is in the pools. `flush`:
  /// the latter.
  Status write_behind(std::span<const Put> puts, Status mine, std::span<std::int64_t> agree_max, bool flush);
  /// Independent: what this rank's pool holds goes to the file.
  Status write_pool_alone();
  Status write_behind_alone(std::span<const Put> puts);

  // keep_on_node.cpp: the same for what the node keeps
  Status write_all_on_node(std::span<const Put> puts, Status mine, std::span<std::int64_t> agree_max,
                           When when);
  Status write_alone_on_node(std::span<const Put> puts, When when);
  Status flush_node();
  /// Collective, after all have met: what any node keeps goes to the file, merged between the nodes.
  Status flush_segments();
  void meet_on_node();
  /// Collective: waits for all ranks; the second one where a collective call of MPI-IO on the file comes
  /// next.
  void arrive();
  void arrive_for_mpi();
  /// Collective: from now on the node keeps what ranks put by themselves.
  void keep_independent();

  /// Collective: what the settings and the caller allow.
  Status start_keeping();

 private:
  Status run_flush(WindowUse& use, std::span<const Put> puts, Status mine, Extent hull, int shift);
  Status flush_all(WindowUse& use, std::span<const Put> puts, Extent hull, int shift, Status mine);
};

}  // namespace forebay
