// The test loop in which collective operations complete, and what a thread does while it waits.
#include "mpi/collective.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/presence.hpp"
#include "base/status.hpp"
#include "mpi/handles.hpp"
#include "mpi/roll_call.hpp"

namespace forebay::mpi {

/// Before the ranks have a communicator of Forebay's there is no message that a program could not take for
/// its own. So ranks that wait there show themselves to the others on this machine.
class FirstContact {
 public:
  FirstContact(MPI_Comm comm, std::string_view call, std::string_view file)
      : rank_(mpi::rank(comm)), ranks_(mpi::size(comm)), call_(call), file_(file), job_(job_name()) {
    int initialized = 0;
    MPI_Initialized(&initialized);  // not so in an MPI session, which has no world
    if (initialized == 0 || job_.empty()) return;
    MPI_Group all = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &all);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> ranks(static_cast<std::size_t>(ranks_));
    for (int r = 0; r < ranks_; ++r) ranks[static_cast<std::size_t>(r)] = r;
    in_world_.resize(ranks.size());
    MPI_Group_translate_ranks(all, ranks_, ranks.data(), world, in_world_.data());
    MPI_Group_free(&all);
    MPI_Group_free(&world);
    all_on_this_machine_ = processes_here() == mpi::size(MPI_COMM_WORLD);
    mine_ = std::make_unique<Presence>(name_of(rank_));
  }

  void look_around(double seconds, int patience, const char* remedy) {
    if (said_ || seconds < patience) return;
    said_ = true;
    std::vector<int> here, missing;
    for (int r = 0; r < ranks_ && mine_; ++r) {
      const bool there = r == rank_ || Presence::of(name_of(r));
      if (there && r < rank_) return;  // the lowest speaks
      (there ? here : missing).push_back(r);
    }
    std::string text;
    if (mine_ && all_on_this_machine_) {
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
  std::vector<int> in_world_;
  bool all_on_this_machine_ = false;
  bool said_ = false;
  std::unique_ptr<Presence> mine_;
};

namespace {

thread_local CollectiveCall* current = nullptr;

constexpr double kLookAround = 0.1;
// A blocking operation would spin as well.
constexpr int kSpins = 2000;
constexpr int kTestsPerLook = 64;

}  // namespace

CollectiveCall::CollectiveCall(const About& about) : about_(about), outermost_(current == nullptr) {
  if (outermost_) current = this;
}

CollectiveCall::~CollectiveCall() {
  if (outermost_) current = nullptr;
}

void CollectiveCall::all_have_come() {
  if (current != nullptr) current->all_here_ = true;
}

void CollectiveCall::look_around(double seconds) {
  if (about_.roll != MPI_COMM_NULL) {
    if (!roll_call_)
      roll_call_ = std::make_unique<RollCall>(about_.roll, about_.call, about_.file, about_.patience_seconds);
    roll_call_->look_around(seconds, all_here_, about_.remedy);
  } else if (about_.comm != MPI_COMM_NULL && !all_here_) {
    if (!first_contact_)
      first_contact_ = std::make_unique<FirstContact>(about_.comm, about_.call, about_.file);
    first_contact_->look_around(seconds, about_.patience_seconds, about_.remedy);
  }
}

void waited(double seconds) noexcept {
  CollectiveCall* const call = current;
  if (call == nullptr || seconds < kLookAround || call->about_.patience_seconds <= 0) return;
  try {
    call->look_around(seconds);
  } catch (...) {
    call->about_.patience_seconds = 0;  // no memory for a remark
  }
}

int wait(MPI_Request& request) {
  std::chrono::steady_clock::time_point begun;
  for (int tests = 0;; ++tests) {
    int done = 0;
    const int error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || done != 0) return error;
    if (tests < kSpins) continue;
    sched_yield();
    if (tests == kSpins) begun = std::chrono::steady_clock::now();
    if (tests % kTestsPerLook == 0)
      waited(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
}

int start_allreduce(std::span<std::int64_t> in_place, MPI_Op op, MPI_Comm comm, MPI_Request& request) {
  return MPI_Iallreduce(MPI_IN_PLACE, in_place.data(), static_cast<int>(in_place.size()), MPI_INT64_T, op,
                        comm, &request);
}

int allreduce(void* in_place, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = MPI_Iallreduce(MPI_IN_PLACE, in_place, count, type, op, comm, &request);
  return error != MPI_SUCCESS ? error : wait(request);
}

int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = MPI_Ibcast(data, count, type, root, comm, &request);
  return error != MPI_SUCCESS ? error : wait(request);
}

int barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = MPI_Ibarrier(comm, &request);
  return error != MPI_SUCCESS ? error : wait(request);
}

int duplicate(MPI_Comm comm, MPI_Comm* made) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = MPI_Comm_idup(comm, made, &request);
  return error != MPI_SUCCESS ? error : wait(request);
}

}  // namespace forebay::mpi
