// What one open file is made of, for the parts of the engine that work on it: how it is stored, cut and
// shared by its ranks. What is kept of it is a Keeper's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/counters.hpp"
#include "engine/core_file.hpp"
#include "engine/guess.hpp"
#include "engine/node_set.hpp"
#include "engine/open_again.hpp"
#include "engine/own_flush.hpp"
#include "engine/read_ahead.hpp"
#include "engine/seat.hpp"
#include "engine/sieve.hpp"
#include "engine/timeline.hpp"
#include "exchange/round_choice.hpp"
#include "layout/file_domains.hpp"
#include "ranks/agreement.hpp"
#include "ranks/collective_call.hpp"
#include "storage/bypass.hpp"
#include "storage/storage.hpp"
#include "storage/stored_file.hpp"

namespace forebay {

struct FileContext {
  FileOptions options;
  Settings settings;
  Seat seat;
  std::shared_ptr<NodeSet> nodes;  ///< the seat's
  bool windowed = false;           ///< whether that has a window for this file's rounds, on all ranks
  bool synced = false;             ///< whether it has a sync point for this file, on all ranks
  std::int64_t share_to_keep = 0;  ///< bytes a rank; the same on all ranks
  std::shared_ptr<const Communicator> comm;
  mutable StoredFile file;
  std::unique_ptr<Storage> staged;   ///< over the file's, where what is read is kept on the node
  std::string own_stage;             ///< the node's first rank: which goes with this file
  std::unique_ptr<ReadAhead> ahead;  ///< null: nothing is fetched ahead
  Storage* storage = nullptr;        ///< the file's, while it is open, or its log's, or that
  bool logged() const { return storage != &file.storage() && !staged; }
  FileDomains layout{{kDefaultStripe}, kDefaultStripe, {}};
  WideRounds wide;  ///< possible(): collective writes take them; the same on all ranks
  Counters counters;
  const char* stripe_source = "";  ///< rank 0: who says how the file is cut, as the report calls it
  std::string reported_path;       ///< rank 0, where a report or a timeline is asked for
  std::unique_ptr<Timeline> timeline;
  Bypass bypass;
  std::optional<Sieve::Bypassing> given_away;  ///< MPI-IO's handle, to the program
  Guess guess;
  OwnPartsGuess own_parts, own_reads;
  std::int64_t direct_runs = 0;  ///< written without a window, by all ranks together
  std::int64_t cheaper_alone =
      0;            ///< runs so long are cheaper to write than to send, which all know; 0: none
  Status deferred;  ///< bytes are missing in the file: sync and close return it
  Status untold;    ///< what could not be written is still kept: the next sync or close returns it
  bool readable = true;
  std::optional<OpenAgain> again;
  std::atomic<bool> opened_again = false;  ///< since this was opened, once at least
  /// Nothing is kept where this process sees the file in two ways.
  bool twice() const { return again && again->twice(); }

  // window_use.cpp
  /// What memory all ranks, and their nodes, have for this file: the largest round that fits (0: none), bytes
  /// to keep, the round of the window that is there, bytes a rank for windows, and whether no other file uses
  /// the set.
  struct Memory {
    std::int64_t round_that_fits, share, capacity, window;
    bool alone;
  };
  struct MemoryOffer {
    Agreement::Minimum round_that_fits, share, capacity, window;
    Agreement::All alone;
    Memory of(const Agreement& a) const {
      return {a[round_that_fits], a[share], a[capacity], a[window], a[alone]};
    }
  };
  MemoryOffer offer_memory(Agreement& agreement) const;
  /// How the file is cut, and in which rounds it is written.
  void cut(const Striping& striping, const Memory& memory);
  /// Collective, by the file that has the window: the node's outbox for wide rounds; null where there are
  /// none, and from then on also where no memory is left for them.
  Outbox* outbox(Window& window);
  /// Whether a transfer of what lies in `hull` takes wide rounds: not where one round of a window holds it.
  bool takes_wide(Extent hull, Direction direction) const;
  /// Whether it might be worth asking what nodes have for themselves: of several, where not one round of a
  /// window holds it all.
  bool may_have_own_parts(Extent hull) const;
  /// Collective: what a window for layout's rounds needs, so that the first call which needs one can make it;
  /// without shared memory it changes nodes and layout.
  Status prepare_window(const Memory& memory);
  Status do_without_shared_memory(Status why);
  Status move_to_window(Window*& out);
  /// Collective: finds out from which length on a rank rather writes a run itself than sends it to its owner.
  /// `alone`: no other file uses the set, so that its rails may be made.
  void compare_link(bool alone);
  void take(Seat next);
  SetWish wish() const;

  // open.cpp
  /// How the file is cut, and who says so.
  struct Cut {
    Striping striping;
    const char* source;
  };
  Cut choose_striping() const;
  /// Collective: opens the file, and chooses how it is stored and cut. `memory`: what is offered for it.
  /// `mine`: how what came before stands on this rank.
  Status open_stored(const StoredFile::Request& request, std::int64_t led, Memory& memory, Status mine);

  // file_context.cpp
  /// Collective.
  void agree(Agreement& agreement, const std::function<void()>& meanwhile = nullptr);
  /// Collective: how all ranks have done, where `mine` is how this one has.
  Status outcome(const Status& mine);
  /// Collective: waits for all ranks; the second one where a collective call of MPI-IO on the file comes
  /// next.
  void barrier();
  void barrier_for_mpi();
  /// Collective, when this rank has written what it had to, and `mine` is how: from then on all ranks see it.
  /// `mine` comes back where that needs nothing, else the outcome of all.
  Status shown(Status mine);
  /// Null: by messages.
  NodeWindow* sync_point() const { return synced ? seat.sync_point() : nullptr; }
  /// Collective over aggregators, of which the first one makes their rail.
  Flush flush_over(Window& window);
  /// Of this node's ranks, as if there were no other node.
  Flush flush_alone(Window& window, const FileDomains& domains);
  /// Independent: past everything.
  Status write_now(std::span<const Put> puts);
  /// Runs of a collective write that are at least so long gain nothing from a window; 0: there are none.
  std::int64_t long_run() const;
  /// In strict mode, where ranks that write by themselves tell each other; null where no block is completed
  /// by one alone.
  NodeWindow* gate() const;
  CollectiveCall::About about(const char* call) const;
  /// "no memory " + `what` ("for a write to ") + the file's name.
  Status no_memory(const char* what) const;
};

}  // namespace forebay
