// Taking windows, finding others, and making the first one.
#include "engine/window_use.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/memory_account.hpp"
#include "base/waiting.hpp"
#include "engine/keep_by_node.hpp"
#include "exchange/round_choice.hpp"
#include "layout/owner_nodes.hpp"
#include "ranks/agreement.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kLeastPool = 32 << 10;
constexpr long kPause = 1'000'000;  // nanoseconds

std::int64_t free_shared_memory() {
  struct statvfs place{};
  if (::statvfs("/dev/shm", &place) != 0) return 0;
  return static_cast<std::int64_t>(place.f_bavail) * static_cast<std::int64_t>(place.f_frsize);
}

/// Rank 0's choice on all ranks.
template <class... Wanted>
SetChoice choose(const Communicator& ranks, Wanted&&... wanted) {
  SetChoice choice;
  if (ranks.rank() == 0) choice = Seat::choose(ranks, wanted...);
  ranks.broadcast(choice.values.data(), sizeof choice.values, 0);
  return choice;
}

}  // namespace

WindowUse::WindowUse(FileContext& file) : file_(file) {
  Window* const window = file.windowed ? file.nodes->window() : nullptr;
  if (window != nullptr && file.nodes->sync_points()->lease->enter(file.seat.user(), nullptr))
    window_ = window;
}

void WindowUse::leave() {
  if (window_ != nullptr) file_.nodes->sync_points()->lease->leave();
  window_ = nullptr;
}

void WindowUse::agree(Agreement& agreement, const std::function<void()>& meanwhile) {
  const Agreement::All have_it = agreement.all(window_ != nullptr);
  file_.agree(agreement, meanwhile);
  all_ = agreement[have_it];
}

Status WindowUse::settle() {
  if (all_) return {};
  leave();
  moved_ = true;
  Status status = file_.move_to_window(window_);
  all_ = status.ok();
  return status;
}

SetWish FileContext::wish() const {
  return {settings.ranks_per_node, settings.aggregators_per_node, settings.aggregators, settings.one_node,
          settings.owner_nodes};
}

void FileContext::take(Seat next) {
  // It refers to what the ranks share there.
  const bool given = given_away.has_value();
  given_away.reset();
  seat = std::move(next);
  nodes = seat.shared_set();
  if (given) given_away.emplace(gate(), file.descriptor());
}

// First to one that waits, or to a set that has none yet: mostly this file's own, at its first flush that
// needs a window. Then to a new one. Where there is no memory for that, the one that others have is waited
// for: they give it back at the end of their calls.
Status FileContext::move_to_window(Window*& out) {
  Status status;
  for (int attempt = 0;; ++attempt) {
    const std::int64_t round = layout.round_bytes();
    Seat next;
    if (attempt < 2) {
      const bool fresh = attempt == 1;
      const SetChoice choice = choose(*comm, wish(), fresh, round, windowed ? nodes.get() : nullptr);
      if (!fresh && choice.values[SetChoice::kSet] < 0) continue;
      next = Seat(*comm, wish(), choice);
      // While nobody uses a set, each rank for itself may drop its window.
      if (comm->minimum(next.set().capacity()) == 0) status = next.set().make_window(round);
    } else if (windowed) {
      sleep_for(kPause);
    } else {
      if (Status made = do_without_shared_memory(std::move(status)); !made.ok()) return made;
      attempt = -1;
      continue;
    }
    // A file that has a seat in this set keeps it.
    const bool moves = !next.empty() && next.shared_set() != nodes;
    NodeSet& set = moves ? next.set() : *nodes;
    Window* const window = set.capacity() >= round ? set.window() : nullptr;
    const bool mine =
        window != nullptr && set.sync_points()->lease->enter(moves ? next.user() : seat.user(), nullptr);
    if (comm->all(mine)) {
      if (moves) take(std::move(next));
      seat.let_go();
      windowed = synced = true;
      out = window;
      return {};
    }
    if (mine) set.sync_points()->lease->leave();
    // A new one without a window is of no use to anybody.
    if (!next.empty() && attempt == 1) next.leave(true, settings);
  }
}

// ---- opening ----

FileContext::MemoryOffer FileContext::offer_memory(Agreement& agreement) const {
  const Topology& t = nodes->topology();
  const std::int64_t ranks = t.local_ranks;
  const bool alone = seat.sole_user();
  if (nodes->capacity() == 0) Seat::make_room(settings);
  // A window that is too small makes room for a larger one.
  Window* const there = alone ? nodes->window() : nullptr;
  const std::int64_t replaced = there == nullptr ? 0 : there->bytes + there->outbox.claim.bytes() * ranks;
  const std::int64_t claimed = nodes->claimed_for_windows(), left = memory_left_for_windows(settings);
  const std::int64_t least =
      options.keeping == Keeping::by_node ? KeepByNode::least_share(t.local_ranks) : kLeastPool;
  std::int64_t share = share_of_next_file(settings, least);
  NodeBytes node{t.local_ranks, alone ? left + claimed : std::max(left, claimed), replaced};
  if (ranks > 1) {
    const std::int64_t free = free_shared_memory();
    node.free_shared = free;
    const std::int64_t most = free / (4 * (keeping_files() + 1)) / ranks;
    if (options.keeping == Keeping::by_node && share > most)
      share = most >= least ? most : free / ranks > 4 * least ? least : 0;
  }
  RoundMemory rounds = memory_for_rounds(settings, node);
  if (const std::int64_t capacity = nodes->capacity(); !alone && capacity > 0) {
    // It has what the others have, by turns with them. Larger rounds than theirs would take another set, and
    // memory of their own.
    node.left = left;
    rounds.round_that_fits = std::min(rounds.round_that_fits,
                                      std::max(memory_for_rounds(settings, node).round_that_fits, capacity));
  }
  return {agreement.minimum(rounds.round_that_fits), agreement.minimum(share),
          agreement.minimum(nodes->capacity()), agreement.minimum(rounds.window),
          agreement.all(comm->rank() != 0 || alone)};
}

void FileContext::cut(const Striping& striping, const Memory& memory) {
  const Topology& t = nodes->topology();
  RoundChoice choice = choose_rounds(settings, {t.owners(), t.most_local_ranks}, striping,
                                     {memory.round_that_fits, memory.window});
  layout = std::move(choice.layout);
  wide = choice.wide;
}

// Nodes that are containers, or namespaces, of one machine: a write is a copy there, and costs less than the
// same bytes on a slow link between them. Elsewhere writes of many ranks to a stripe cost what nobody knows.
void FileContext::compare_link(bool alone) {
  constexpr double seconds_a_write = 3e-6;  // twice what was measured on tmpfs and ext4
  constexpr std::int64_t least = 512, most = 16 << 10;
  const Topology& t = nodes->topology();
  if (t.nodes == 1 || settings.ranks_per_node > 0 || settings.bypass_bytes == 0 || !file.on_one_machine())
    return;
  std::int64_t rate = nodes->link_rate();
  if (alone) {
    Rail* const rail = nodes->rail(settings.link);
    rate = rail != nullptr ? static_cast<std::int64_t>(rail->rate()) : kNoOffset;
  }
  rate = comm->minimum(rate);
  if (alone) nodes->note_link_rate(rate);
  if (rate == 0) return;
  // Of n nodes' bytes (n - 1) / n cross.
  const double bytes = seconds_a_write * static_cast<double>(rate) * t.nodes / (t.nodes - 1);
  cheaper_alone = std::clamp(static_cast<std::int64_t>(bytes), least, most);
}

bool FileContext::may_have_own_parts(Extent hull) const {
  const Topology& t = nodes->topology();
  return t.nodes > 1 && t.owning.empty() && !file.views_differ() && settings.rounds == Rounds::automatic &&
         layout.round_begin(hull.begin) + layout.round_bytes() < hull.end;
}

bool FileContext::takes_wide(Extent hull, Direction direction) const {
  return forebay::takes_wide(settings, layout, wide, hull, direction);
}

Outbox* FileContext::outbox(Window& window) {
  if (!wide.possible()) return nullptr;
  if (window.outbox.view != nullptr && window.outbox.view->rounds() == wide) return window.outbox.view.get();
  const Status made = nodes->make_outbox(wide);
  if (made.ok()) return window.outbox.view.get();
  if (comm->rank() == 0) warn_once("collective writes take smaller rounds: " + made.message());
  wide = {};
  return nullptr;
}

Status FileContext::prepare_window(const Memory& memory) {
  const std::int64_t round = layout.round_bytes();
  windowed = synced = memory.capacity >= round;
  if (windowed) {
    if (wide.possible()) nodes->plan_outbox(wide);
    return {};
  }
  Status status;
  if (memory.round_that_fits == 0) {
    status = {Code::no_shared_memory, "too little shared memory is free in /dev/shm"};
  } else {
    // Where others use this set's window, which is smaller, this file will move to another set.
    if (memory.alone || memory.capacity == 0) {
      nodes->plan_window(round);
      if (wide.possible()) nodes->plan_outbox(wide);
    }
    status = nodes->make_sync_points();
    synced = status.ok();
  }
  return status.ok() ? status : do_without_shared_memory(std::move(status));
}

// Ranks as nodes of their own: memory of each, and messages.
Status FileContext::do_without_shared_memory(Status why) {
  if (nodes->topology().most_local_ranks == 1) return why;
  Status heard = spread_failure(*comm, why);
  if (heard.code() != Code::no_shared_memory) return heard;
  if (comm->rank() == 0)
    warn_once("ranks of a node exchange messages instead of sharing memory: " + heard.message() +
              "; make /dev/shm larger, or set forebay_memory_bytes or forebay_window_bytes lower");
  if (nodes->topology().owning.empty()) {
    settings.owner_nodes = {};
  } else {
    // The ranks of these nodes.
    const std::int64_t me = comm->rank();
    const auto owning = comm->concatenate({&me, nodes->topology().node_may_own() ? 1u : 0u});
    settings.owner_nodes = choice_of(std::vector<int>(owning.begin(), owning.end()));
  }
  settings.ranks_per_node = 1;
  settings.link = forebay::Link::message;  // MPI's windows between ranks of a node are shared memory, too
  take(Seat(*comm, wish(), choose(*comm, wish())));
  Agreement agreed;
  const MemoryOffer offer = offer_memory(agreed);
  agreed.reduce_over(*comm);
  const Memory memory = offer.of(agreed);
  share_to_keep = memory.share;
  cut(Striping(layout.striping()), memory);
  return prepare_window(memory);
}

}  // namespace forebay
