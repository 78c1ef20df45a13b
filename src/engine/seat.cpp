// The process's list of sets. On rank 0 of a set's communicator it says what may be chosen; on other ranks
// threads only wait there until theirs is there.
#include "engine/seat.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/per_process.hpp"
#include "base/runtime.hpp"

namespace forebay {

/// One of the list.
struct ListedSet {
  static constexpr int kPlaces = 16;
  struct Place {
    bool taken = false;
    std::shared_ptr<const Communicator> comm;
  };

  ListedSet(std::shared_ptr<NodeSet> set_of_it, const SetWish& wish_of_it, std::int64_t id_of_it)
      : set(std::move(set_of_it)), wish(wish_of_it), id(id_of_it) {}

  std::shared_ptr<NodeSet> set;
  SetWish wish;
  std::int64_t id;  // of rank 0's giving
  int users = 0;
  bool held = false;
  std::uint64_t idle_since = 0;
  Place places[kPlaces];

  /// -1: all are taken.
  int take_place() {
    for (int i = 0; i < kPlaces; ++i) {
      if (!std::exchange(places[i].taken, true)) return i;
    }
    return -1;
  }
};

namespace {

// Communicators are few, and files are closed one by one: so many sets wait for the next file.
constexpr int kMostIdle = 4;
constexpr int kMostIdleWithMemory = 2;

struct List {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<ListedSet>> sets;
  std::int64_t next_id = 0;
  std::uint32_t next_user = 0;
  std::uint64_t clock = 0;
  bool watched = false;

  static List& instance() { return per_process<List>(); }

  // Sets end with MPI, while it still works. Open files hold their own reference, so that a library which
  // closes its files inside MPI_Finalize finds its windows.
  void watch() {
    if (watched || !runtime_works()) return;
    watched = true;
    before_runtime_ends([] {
      std::vector<std::shared_ptr<ListedSet>> ending;
      const std::lock_guard ending_lock(instance().mutex);
      ending = std::exchange(instance().sets, {});
    });
  }

  int idle() const {
    return static_cast<int>(std::ranges::count(sets, 0, [](const auto& one) { return one->users; }));
  }

  // What waits keeps memory only where it is among the last, and little beside the bound.
  void trim(std::int64_t most) {
    std::vector<ListedSet*> waiting;
    for (const auto& one : sets) {
      if (one->users == 0 && !one->held) waiting.push_back(one.get());
    }
    std::ranges::sort(waiting, std::greater<>(), &ListedSet::idle_since);
    std::int64_t sum = 0;
    int count = 0;
    for (ListedSet* one : waiting) {
      const std::int64_t bytes = one->set->claimed();
      if (bytes == 0) continue;
      sum += bytes;
      if (++count > kMostIdleWithMemory || sum > most) one->set->drop_memory();
    }
  }
};

}  // namespace

SetChoice Seat::choose(const Communicator& ranks, const SetWish& wish, bool fresh, std::int64_t round_bytes,
                       const NodeSet* other_than) {
  List& list = List::instance();
  const std::lock_guard lock(list.mutex);
  SetChoice choice;
  auto& v = choice.values;
  v[SetChoice::kUser] = list.next_user++ & 0xffffff;
  v[SetChoice::kFresh] = list.next_id++;
  v[SetChoice::kSet] = -1;
  v[SetChoice::kSyncPoints] = ranks.threads_are_free() ? ListedSet::kPlaces : 1;
  if (fresh) return choice;
  ListedSet* best = nullptr;
  for (const auto& one : list.sets) {
    if (one->held || one->set.get() == other_than || !(one->wish == wish) ||
        !one->set->comm().same_ranks(ranks))
      continue;
    const Window* window = one->set->window();
    if (round_bytes > 0 && window != nullptr &&
        (window->round_bytes < round_bytes || !one->set->sync_points()->lease->is_free()))
      continue;
    if (best == nullptr || (best->set->window() == nullptr && window != nullptr)) best = one.get();
  }
  if (best == nullptr) return choice;
  best->held = true;
  ++best->users;
  v[SetChoice::kSet] = best->id;
  v[SetChoice::kPlace] = best->take_place();
  return choice;
}

Seat::Seat(const Communicator& ranks, const SetWish& wish, const SetChoice& choice)
    : user_(static_cast<std::uint32_t>(choice.values[SetChoice::kUser])),
      holds_(true),
      runtime_(ranks.hold()) {
  List& list = List::instance();
  const std::int64_t id = choice.values[SetChoice::kSet];
  if (id < 0) {
    set_ = std::make_shared<NodeSet>(ranks, wish, static_cast<int>(choice.values[SetChoice::kSyncPoints]));
    listed_ = std::make_shared<ListedSet>(set_, wish, choice.values[SetChoice::kFresh]);
    listed_->users = 1;
    listed_->held = true;
    listed_->places[0].taken = true;
    place_ = 0;
    const std::lock_guard lock(list.mutex);
    list.watch();
    list.sets.push_back(listed_);
    return;
  }
  place_ = static_cast<int>(choice.values[SetChoice::kPlace]);
  std::unique_lock lock(list.mutex);
  // Of those with the same ranks, which are few, and the same numbers may come from other ranks 0.
  for (const auto& one : list.sets) {
    if (one->id == id && one->wish == wish && one->set->comm().same_ranks(ranks)) listed_ = one;
  }
  if (listed_ == nullptr) ranks.abort("internal error: ranks know different sets of windows");
  set_ = listed_->set;
  if (ranks.rank() == 0) return;  // choose() has done it
  // Another thread of this rank may still be in the call that all of rank 0's side has left.
  list.changed.wait(lock, [&] { return !listed_->held && (place_ < 0 || !listed_->places[place_].taken); });
  listed_->held = true;
  ++listed_->users;
  if (place_ >= 0) listed_->places[place_].taken = true;
}

Seat& Seat::operator=(Seat&& other) noexcept {
  std::swap(set_, other.set_);
  std::swap(listed_, other.listed_);
  std::swap(place_, other.place_);
  std::swap(user_, other.user_);
  std::swap(holds_, other.holds_);
  std::swap(runtime_, other.runtime_);
  return *this;
}

Seat::~Seat() {
  if (listed_ == nullptr) return;
  leave(false, {});
}

NodeWindow* Seat::sync_point() const {
  const SyncPoints* const sync = set_->sync_points();
  if (set_->topology().nodes > 1 || sync == nullptr) return nullptr;
  if (sync->points.size() == 1) return sync->points.front().get();
  return place_ < 0 ? nullptr : sync->points[static_cast<std::size_t>(place_)].get();
}

std::shared_ptr<const Communicator> Seat::take_comm(const Communicator& ranks) {
  if (set_->shares_comm()) return set_->shared_comm();
  std::shared_ptr<const Communicator> own;
  if (place_ >= 0) {
    const std::lock_guard lock(List::instance().mutex);
    own = std::move(listed_->places[place_].comm);
  }
  return own ? std::move(own) : ranks.duplicate();
}

void Seat::leave_comm(std::shared_ptr<const Communicator> comm) {
  if (place_ < 0 || set_->shares_comm()) return;
  const std::lock_guard lock(List::instance().mutex);
  std::swap(listed_->places[place_].comm, comm);
}

bool Seat::sole_user() const {
  const std::lock_guard lock(List::instance().mutex);
  return listed_->users == 1;
}

void Seat::let_go() {
  if (!std::exchange(holds_, false)) return;
  List& list = List::instance();
  {
    const std::lock_guard lock(list.mutex);
    listed_->held = false;
  }
  list.changed.notify_all();
}

// Rank 0 of the set keeps it from being chosen, where it may go, until all have said whether it may stay.
Seat::Votes Seat::vote(Agreement& agreement) {
  List& list = List::instance();
  const std::lock_guard lock(list.mutex);
  const bool first = set_->comm().rank() == 0;
  const bool may_go = !first || (listed_->users == 1 && (!listed_->held || holds_));
  if (first && may_go) listed_->held = holds_ = true;
  return {agreement.all(may_go), agreement.all(!runtime_ && list.idle() < kMostIdle)};
}

void Seat::make_room(const Settings& settings) {
  List& list = List::instance();
  const std::lock_guard lock(list.mutex);
  list.trim(settings.memory_bytes / 8);
}

void Seat::leave(bool goes, const Settings& settings, std::shared_ptr<SegmentMemory> spare) {
  List& list = List::instance();
  {
    const std::lock_guard lock(list.mutex);
    if (place_ >= 0) listed_->places[place_].taken = false;
    if (std::exchange(holds_, false)) listed_->held = false;
    if (--listed_->users == 0) listed_->idle_since = ++list.clock;
    if (goes) std::erase(list.sets, listed_);
    if (!goes && spare && listed_->users == 0 && !listed_->held) set_->give_back(std::move(spare));
    list.trim(settings.memory_bytes / 2);
  }
  list.changed.notify_all();
  listed_.reset();
  set_.reset();
  runtime_.reset();
}

}  // namespace forebay
