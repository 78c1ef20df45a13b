#include "engine/exit_count.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace forebay {
namespace {

constexpr auto kMostMeeting = std::chrono::seconds(60);

}  // namespace

NodeMemory ExitCount::share(const Topology& t, MPI_Comm comm) {
  NodeMemory memory;
  const std::size_t bytes = static_cast<std::size_t>(t.local_ranks) * sizeof(Rank);
  if (t.nodes > 1 || !share_on_node(t, comm, bytes, SharedMemory::Pages::at_first_touch, {}, memory).ok())
    return {};
  return memory;
}

ExitCount::ExitCount(NodeMemory shared, const Topology& t, MPI_Comm comm, const StoredFile& file,
                     const std::string& path)
    : shared_(std::move(shared)),
      ranks_(static_cast<Rank*>(shared_.at)),
      count_(t.local_ranks),
      rank_(t.local_rank),
      between_nodes_(t.nodes > 1 ? comm : MPI_COMM_NULL),
      file_(file),
      path_(path) {
  set(0, 0, 0, 0);
}

void ExitCount::set(std::int64_t offset, int width, std::int64_t together, std::int64_t alone) {
  together_ = together;
  publish();
  alone_ = alone;
  if (ranks_ != nullptr) ranks_[rank_].alone = alone;
  place_ = {offset, width, 0};
}

void ExitCount::publish() {
  if (ranks_ != nullptr)
    ranks_[rank_].together = kUnit * together_ + (keeps_ ? kKeeps : 0) + (finished_ ? kFinished : 0);
}

// -1 while a rank still keeps something, or where the ranks share no memory. Of independent puts those
// records count that every rank has reached, and once all have finished those that any has.
std::int64_t ExitCount::whole() const {
  if (ranks_ == nullptr) return -1;
  std::int64_t together = INT64_MAX, most = 0, least = INT64_MAX;
  bool finished = true;
  for (int r = 0; r < count_; ++r) {
    const std::int64_t state = ranks_[r].together.load();
    if ((state & kKeeps) != 0) return -1;
    finished = finished && (state & kFinished) != 0;
    together = std::min(together, state / kUnit);
    const std::int64_t alone = ranks_[r].alone.load();
    most = std::max(most, alone);
    least = std::min(least, alone);
  }
  return std::max(together, finished ? most : least);
}

bool ExitCount::raise_to(std::int64_t records) noexcept {
  CountAtExit raised = place_;
  raised.value = records;
  return raise_count(file_.descriptor(), raised);
}

void ExitCount::begin_meeting(bool well) noexcept {
  if (between_nodes_ == MPI_COMM_NULL) return;
  met_ = {well && !keeps_ ? 0 : -1, together_, ~alone_};
  if (MPI_Iallreduce(MPI_IN_PLACE, met_.data(), static_cast<int>(met_.size()), MPI_INT64_T, MPI_MIN,
                     between_nodes_, &meeting_) != MPI_SUCCESS)
    meeting_ = MPI_REQUEST_NULL;
}

// A rank that has ended otherwise does not come.
void ExitCount::end_meeting() noexcept {
  if (meeting_ == MPI_REQUEST_NULL) return;
  const auto until = std::chrono::steady_clock::now() + kMostMeeting;
  int done = 0;
  while (MPI_Test(&meeting_, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (std::chrono::steady_clock::now() > until) return;
    sched_yield();
  }
  if (done != 0 && met_[0] == 0 && !raise_to(std::max(met_[1], ~met_[2]))) say_not_written(path_.c_str());
}

}  // namespace forebay
