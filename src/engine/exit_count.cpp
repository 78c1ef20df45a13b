#include "engine/exit_count.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "storage/emergency_writer.hpp"

namespace forebay {
namespace {

constexpr auto kMostMeeting = std::chrono::seconds(60);

}  // namespace

NodeMemory ExitCount::share(const Topology& t, const Communicator& ranks) {
  NodeMemory memory;
  const std::size_t bytes = static_cast<std::size_t>(t.local_ranks) * sizeof(Rank);
  if (t.nodes > 1 || !share_on_node(*t.node_comm, ranks, NodeMemoryWish(bytes), Status(), memory).ok())
    return {};
  return memory;
}

ExitCount::ExitCount(NodeMemory shared, const Topology& t, const Communicator& ranks, const StoredFile& file,
                     const std::string& path)
    : shared_(std::move(shared)),
      ranks_(static_cast<Rank*>(shared_.at)),
      count_(t.local_ranks),
      rank_(t.local_rank),
      between_nodes_(t.nodes > 1 ? &ranks : nullptr),
      file_(file),
      path_(path) {
  set(0, 0, 0, 0);
}

void ExitCount::set(std::int64_t offset, int width, std::int64_t collective, std::int64_t independent) {
  collective_ = collective;
  publish();
  independent_ = independent;
  if (ranks_ != nullptr) ranks_[rank_].independent = independent;
  place_ = {offset, width, 0};
}

void ExitCount::publish() {
  if (ranks_ != nullptr)
    ranks_[rank_].collective = kUnit * collective_ + (keeps_ ? kKeeps : 0) + (finished_ ? kFinished : 0);
}

// -1 while a rank still keeps something, or where the ranks share no memory. Of independent puts those
// records count that every rank has reached, and once all have finished those that any has.
std::int64_t ExitCount::whole() const {
  if (ranks_ == nullptr) return -1;
  std::int64_t collective = INT64_MAX, most = 0, least = INT64_MAX;
  bool finished = true;
  for (int r = 0; r < count_; ++r) {
    const std::int64_t state = ranks_[r].collective.load();
    if ((state & kKeeps) != 0) return -1;
    finished = finished && (state & kFinished) != 0;
    collective = std::min(collective, state / kUnit);
    const std::int64_t independent = ranks_[r].independent.load();
    most = std::max(most, independent);
    least = std::min(least, independent);
  }
  return std::max(collective, finished ? most : least);
}

bool ExitCount::raise_to(std::int64_t records) noexcept {
  CountAtExit raised = place_;
  raised.value = records;
  return raise_count(file_.descriptor(), raised);
}

void ExitCount::begin_reduction(bool well) noexcept {
  if (between_nodes_ == nullptr) return;
  met_ = {well && !keeps_ ? 0 : -1, collective_, ~independent_};
  try {
    reduction_ = between_nodes_->start_minimum(met_);
  } catch (const std::bad_alloc&) {  // the others wait for a while
  }
}

// A rank that has ended otherwise does not come.
void ExitCount::end_reduction() noexcept {
  if (reduction_ == nullptr) return;
  const auto until = now() + kMostMeeting;
  while (!reduction_->done()) {
    if (now() > until) return;
    yield();
  }
  if (met_[0] == 0 && !raise_to(std::max(met_[1], ~met_[2]))) say_not_written(path_.c_str());
}

}  // namespace forebay
