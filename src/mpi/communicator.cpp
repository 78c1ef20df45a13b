// Collective operations by MPI: started, then tested until they are done.
#include "mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/presence.hpp"
#include "base/runtime.hpp"
#include "base/speaker.hpp"
#include "base/status.hpp"
#include "base/waiting.hpp"
#include "mpi/rail.hpp"
#include "mpi/roll_call.hpp"

namespace forebay::mpi {
namespace {

/// Numbers of the ranks in MPI_COMM_WORLD; MPI_UNDEFINED for those that other jobs started.
std::vector<int> ranks_in_world(MPI_Comm comm) {
  MPI_Group all = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(static_cast<std::size_t>(mpi::size(comm)));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> in_world(ranks.size());
  MPI_Group_translate_ranks(all, static_cast<int>(ranks.size()), ranks.data(), world, in_world.data());
  MPI_Group_free(&all);
  MPI_Group_free(&world);
  return in_world;
}

/// By what the launcher says, unless that was another launcher, which did not start these ranks.
bool world_is_on_this_machine() {
  static const bool is = processes_here() == mpi::size(MPI_COMM_WORLD) &&
                         rank_by_launcher() == std::to_string(mpi::rank(MPI_COMM_WORLD));
  return is;
}

/// Before the ranks have a communicator of Forebay's there is no message that a program could not take for
/// its own. So ranks that wait there show themselves to the others on this machine.
class FirstContact final : public Communicator::Search {
 public:
  FirstContact(MPI_Comm comm, std::string_view call, std::string_view file, int patience)
      : rank_(mpi::rank(comm)),
        ranks_(mpi::size(comm)),
        call_(call),
        file_(file),
        job_(job_name()),
        patience_(patience) {
    if (!world_works() || job_.empty()) return;  // an MPI session has no world
    in_world_ = ranks_in_world(comm);
    mine_ = std::make_unique<Presence>(name_of(rank_));
  }

  void look_around(double seconds, bool all_here, const char* remedy) override {
    if (said_ || all_here || seconds < patience_) return;
    said_ = true;
    std::vector<int> here, missing;
    for (int r = 0; r < ranks_ && mine_; ++r) {
      const bool there = r == rank_ || Presence::of(name_of(r));
      if (there && r < rank_) return;  // the lowest speaks
      (there ? here : missing).push_back(r);
    }
    std::string text;
    if (mine_ && world_is_on_this_machine()) {
      text = sentence({rank_, ranks_, static_cast<int>(seconds), call_, file_, false, missing, {}});
    } else {
      text = "rank " + std::to_string(rank_) + " of " + std::to_string(ranks_) + " has waited " +
             std::to_string(static_cast<int>(seconds)) + " s in " + name_of_call(call_, file_) +
             ": others have not come to it";
      if (mine_) text += "; on this machine " + list_ranks(here) + (here.size() == 1 ? " has" : " have");
    }
    warn_few("long wait", text + (*remedy != '\0' ? std::string(". ") + remedy : ""), kMostRemarks);
  }

 private:
  std::string name_of(int rank) const {
    return job_ + "\n" + std::to_string(in_world_[static_cast<std::size_t>(rank)]) + "\n" + call_;
  }

  int rank_;
  int ranks_;
  std::string call_;
  std::string file_;
  std::string job_;
  int patience_;
  std::vector<int> in_world_;
  bool said_ = false;
  std::unique_ptr<Presence> mine_;
};

// A blocking operation would spin as well.
constexpr int kSpins = 2000;

int wait(MPI_Request& request) {
  int error = MPI_SUCCESS;
  poll_until({nullptr, &waited}, kSpins, 0, 0, [&] {
    int done = 0;
    error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return error != MPI_SUCCESS || done != 0;
  });
  return error;
}

MPI_Op op_of(Communicator::Op op) {
  switch (op) {
    case Communicator::Op::minimum:
      return MPI_MIN;
    case Communicator::Op::maximum:
      return MPI_MAX;
    case Communicator::Op::sum:
      return MPI_SUM;
    default:
      return MPI_BOR;
  }
}

// A rank by itself has nothing to wait for; MPI libraries take microseconds to find that out.
template <class Start>
int complete(MPI_Comm comm, Start&& start) {
  if (mpi::size(comm) == 1) return MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = start(request);
  return error != MPI_SUCCESS ? error : wait(request);
}

int start(std::span<std::int64_t> in_place, MPI_Op op, MPI_Comm comm, MPI_Request& request) {
  return MPI_Iallreduce(MPI_IN_PLACE, in_place.data(), static_cast<int>(in_place.size()), MPI_INT64_T, op,
                        comm, &request);
}

class StartedReduction final : public Communicator::Started {
 public:
  StartedReduction(std::span<std::int64_t> values, MPI_Comm comm) : values_(values) {
    if (start(values, MPI_MIN, comm, request_) != MPI_SUCCESS) request_ = MPI_REQUEST_NULL;
  }
  bool well() const { return request_ != MPI_REQUEST_NULL; }
  bool done() override {
    int done = 0;
    if (MPI_Test(&request_, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) return done != 0;
    std::fill(values_.begin(), values_.end(), std::numeric_limits<std::int64_t>::min());
    return true;
  }

 private:
  std::span<std::int64_t> values_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// While a rank waits for others of its node, messages that it sent before may need it. Programs with sessions
// alone have no MPI_COMM_SELF.
void make_progress() {
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

std::unique_ptr<forebay::Communicator> owner_of(Comm comm) {
  if (!comm) return nullptr;
  return std::make_unique<Communicator>(std::move(comm));
}

// An attribute of MPI_COMM_SELF is deleted at the beginning of MPI_Finalize, the last one first, while MPI
// still works.
void before_finalize(void (*call)()) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void* what, void*) {
        reinterpret_cast<void (*)()>(what)();
        return MPI_SUCCESS;
      },
      &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, reinterpret_cast<void*>(call));
  MPI_Comm_free_keyval(&key);
}

}  // namespace

void use_mpi() noexcept {
  static constexpr Runtime runtime{&world_works, &before_finalize};
  set_runtime(runtime);
}

Communicator::~Communicator() {
  if (!own_ || size() == 1 || !works_with(comm_)) return;
  discard_notes(comm_);
  // One may still arrive, and is no reason to end the program.
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

bool Communicator::reduce(std::span<std::int64_t> values, Op op) const {
  return complete(comm_, [&](MPI_Request& request) { return start(values, op_of(op), comm_, request); }) ==
         MPI_SUCCESS;
}

bool Communicator::reduce(std::span<std::int64_t> least, std::span<std::int64_t> sums,
                          const std::function<void()>& meanwhile) const {
  if (size() == 1) {
    if (meanwhile) meanwhile();
    return true;
  }
  // What this rank has put into memory that it shares is there before the others learn of it.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  bool well = start(least, MPI_MIN, comm_, requests[0]) == MPI_SUCCESS;
  if (!sums.empty()) well = start(sums, MPI_SUM, comm_, requests[1]) == MPI_SUCCESS && well;
  if (meanwhile) meanwhile();
  for (MPI_Request& request : requests) well = wait(request) == MPI_SUCCESS && well;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return well;
}

bool Communicator::broadcast(void* data, std::size_t bytes, int root) const {
  return bcast(data, static_cast<int>(bytes), MPI_BYTE, root, comm_) == MPI_SUCCESS;
}

void Communicator::barrier() const {
  mpi::barrier(comm_);
}

void Communicator::gather(const void* mine, std::size_t bytes, void* all, int root) const {
  const auto count = static_cast<int>(bytes);
  if (root < 0)
    MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_);
  else
    MPI_Gather(mine, count, MPI_BYTE, all, count, MPI_BYTE, root, comm_);
}

std::vector<std::int64_t> Communicator::concatenate(std::span<const std::int64_t> mine) const {
  std::vector<int> counts(static_cast<std::size_t>(size())), places(counts.size());
  const int count = static_cast<int>(mine.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_);
  int sum = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) places[r] = std::exchange(sum, sum + counts[r]);
  std::vector<std::int64_t> all(static_cast<std::size_t>(sum));
  MPI_Allgatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), places.data(), MPI_INT64_T,
                 comm_);
  return all;
}

std::unique_ptr<Communicator::Started> Communicator::start_minimum(std::span<std::int64_t> values) const {
  auto started = std::make_unique<StartedReduction>(values, comm_);
  if (!started->well()) return nullptr;
  return started;
}

std::unique_ptr<forebay::Communicator> Communicator::split(int color, int key) const {
  Comm made;
  MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, made.address());
  return owner_of(std::move(made));
}

std::unique_ptr<forebay::Communicator> Communicator::split_by_node() const {
  Comm made;
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, made.address());
  return owner_of(std::move(made));
}

std::unique_ptr<forebay::Communicator> Communicator::duplicate() const {
  Comm made;
  MPI_Comm_dup(comm_, made.address());
  // Ranks that cannot agree any more cannot return in order either: a failed reduction must not pass unseen.
  MPI_Comm_set_errhandler(made.get(), MPI_ERRORS_ARE_FATAL);
  return owner_of(std::move(made));
}

std::unique_ptr<Rail> Communicator::make_rail(const forebay::Communicator& rails, Link wanted,
                                              Link& used) const {
  return make_mpi_rail(comm_, comm_of(rails), wanted, used);
}

bool Communicator::same_ranks(const forebay::Communicator& other) const {
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(comm_, comm_of(other), &result);
  return result == MPI_CONGRUENT || result == MPI_IDENT;
}

bool Communicator::is_on_one_node() const {
  if (size() == 1) return true;
  if (!world_works() || !world_is_on_this_machine()) return false;
  const std::vector<int> ranks = ranks_in_world(comm_);
  return std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) == ranks.end();
}

void (*Communicator::progress() const)() {
  return world_works() ? make_progress : nullptr;
}

bool Communicator::threads_are_free() const {
  if (!world_works()) return true;  // sessions have no level of the process
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

const char* Communicator::thread_level() const {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  switch (level) {
    case MPI_THREAD_FUNNELED:
      return "funneled";
    case MPI_THREAD_SERIALIZED:
      return "serialized";
    case MPI_THREAD_MULTIPLE:
      return "multiple";
    default:
      return "single";
  }
}

std::shared_ptr<void> Communicator::hold() const {
  if (world_works()) return nullptr;
  ++open_in_sessions();
  return {&open_in_sessions(), [](void*) { --open_in_sessions(); }};
}

void Communicator::abort(const char* why) const {
  std::fprintf(stderr, "forebay: %s\n", why);
  MPI_Abort(comm_, 1);
  std::abort();
}

std::unique_ptr<Communicator::Search> Communicator::search(std::string_view call, std::string_view file,
                                                           int patience_seconds, bool own) const {
  if (own) return std::make_unique<RollCall>(comm_, call, file, patience_seconds);
  return std::make_unique<FirstContact>(comm_, call, file, patience_seconds);
}

int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return complete(comm,
                  [&](MPI_Request& request) { return MPI_Ibcast(data, count, type, root, comm, &request); });
}

int barrier(MPI_Comm comm) {
  return complete(comm, [&](MPI_Request& request) { return MPI_Ibarrier(comm, &request); });
}

int duplicate(MPI_Comm comm, MPI_Comm* made) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = MPI_Comm_idup(comm, made, &request);
  return error != MPI_SUCCESS ? error : wait(request);
}

}  // namespace forebay::mpi
