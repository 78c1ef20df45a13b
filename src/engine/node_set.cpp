// Making what a set consists of.
#include "engine/node_set.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/indispensable.hpp"
#include "ranks/collective_call.hpp"

namespace forebay {
namespace {

std::int64_t claim_of_outbox(const Topology& t, const WideRounds& rounds) {
  return static_cast<std::int64_t>(Outbox::bytes_needed(rounds, t.local_ranks)) / t.local_ranks;
}

std::int64_t claim_of_window(const Topology& t, std::int64_t round_bytes) {
  return static_cast<std::int64_t>(NodeWindow::bytes_needed(t.local_ranks, round_bytes)) / t.local_ranks;
}

}  // namespace

NodeSet::NodeSet(const Communicator& ranks, const SetWish& wish, int sync_points)
    : comm_(ranks.duplicate()),
      topology_(make_topology(comm_, wish.ranks_per_node, wish.aggregators_per_node, wish.owners,
                              wish.one_node, wish.owner_nodes)),
      count_of_sync_points_(sync_points) {}

Status NodeSet::make_sync_points() {
  if (sync_points_) return {};
  const int ranks = topology_.local_ranks;
  const std::size_t each = NodeWindow::bytes_needed(ranks, 0);
  const std::size_t bytes = NodeLease::kBytes + static_cast<std::size_t>(count_of_sync_points_) * each;
  NodeMemory memory;
  if (Status status = share_on_node(*topology_.node_comm, *comm_, NodeMemoryWish(bytes), {}, memory);
      !status.ok())
    return status;
  indispensable([&] {
    auto made = std::make_unique<SyncPoints>();
    auto* at = static_cast<std::byte*>(memory.at);
    made->lease = std::make_unique<NodeLease>(at);
    at += NodeLease::kBytes;
    for (int i = 0; i < count_of_sync_points_; ++i, at += each) {
      made->points.push_back(std::make_unique<NodeWindow>(at, ranks, topology_.local_rank, 0));
      made->points.back()->set_waiting(comm_->progress(), &waited);
    }
    sync_points_ = std::move(made);
  });
  sync_points_->memory = std::move(memory);
  return {};
}

void NodeSet::plan_window(std::int64_t round_bytes) {
  window_.reset();
  const std::int64_t claim = claim_of_window(topology_, round_bytes);
  if (claim > planned_.bytes()) planned_ = MemoryClaim(MemoryClaim::Kind::window, claim);
}

void NodeSet::plan_outbox(const WideRounds& rounds) {
  const std::int64_t there = window_ ? window_->outbox.claim.bytes() : 0;
  const std::int64_t more = claim_of_outbox(topology_, rounds) - there;
  if (more > planned_outbox_.bytes()) planned_outbox_.resize(more);
}

Status NodeSet::make_window(std::int64_t round_bytes) {
  if (Status status = make_sync_points(); !status.ok()) return status;
  window_.reset();
  std::unique_ptr<Window> window;
  const int ranks = topology_.local_ranks;
  const std::size_t bytes = NodeWindow::bytes_needed(ranks, round_bytes);
  NodeMemoryWish wish(bytes);
  Status mine;
  try {
    wish = {bytes, NodeWindow::share_of(topology_.local_rank, ranks, round_bytes)};
    window = std::make_unique<Window>();
    // for the finest granule
    if (topology_.rail >= 0) window->scratch.merged.resize(static_cast<std::size_t>(round_bytes) / 64 + 1);
  } catch (const std::bad_alloc&) {
    mine = {Code::no_memory, "no memory for an aggregator's marks"};
  }
  NodeMemory memory;
  if (Status status = share_on_node(*topology_.node_comm, *comm_, wish, std::move(mine), memory);
      !status.ok())
    return status;
  indispensable([&] {
    window->view = std::make_unique<NodeWindow>(memory.at, ranks, topology_.local_rank, round_bytes);
    window->view->set_waiting(comm_->progress(), &waited);
  });
  window->memory = std::move(memory);
  window->bytes = static_cast<std::int64_t>(bytes);
  window->round_bytes = round_bytes;
  planned_ = {};
  window->claim = MemoryClaim(MemoryClaim::Kind::window, claim_of_window(topology_, round_bytes));
  window_ = std::move(window);
  return {};
}

Status NodeSet::make_outbox(const WideRounds& rounds) {
  auto& outbox = window_->outbox;
  // Files whose rounds are larger may come again.
  const std::int64_t most = planned_outbox_.bytes() + outbox.claim.bytes();
  outbox = {};
  planned_outbox_.resize(most);
  const int ranks = topology_.local_ranks;
  const std::size_t bytes = Outbox::bytes_needed(rounds, ranks);
  NodeMemoryWish wish(bytes);
  Status mine;
  try {
    wish = {bytes, Outbox::share_of(topology_.local_rank, topology_.rail, rounds, ranks)};
  } catch (const std::bad_alloc&) {
    mine = {Code::no_memory, "no memory for an outbox"};
  }
  NodeMemory memory;
  if (Status status = share_on_node(*topology_.node_comm, *comm_, wish, std::move(mine), memory);
      !status.ok())
    return status;
  indispensable(
      [&] { outbox.view = std::make_unique<Outbox>(memory.at, rounds, ranks, topology_.local_rank); });
  outbox.memory = std::move(memory);
  outbox.claim = MemoryClaim(MemoryClaim::Kind::window, claim_of_outbox(topology_, rounds));
  planned_outbox_.resize(std::max<std::int64_t>(0, most - outbox.claim.bytes()));
  return {};
}

std::shared_ptr<SegmentMemory> NodeSet::take_spare(const SegmentWish& wish) {
  const std::size_t bytes =
      NodeSegments::bytes_needed(wish.segment_bytes, wish.count, topology_.local_ranks, wish.level1);
  asked_ = true;
  // Else its place may be needed.
  std::shared_ptr<SegmentMemory> found = std::move(spare_);
  if (found && (found->bytes != bytes || found->segment_bytes != wish.segment_bytes ||
                found->outlives != wish.outlives || found->level1 != wish.level1))
    found.reset();
  return found;
}

Status make_segments(const Communicator& node, const Communicator& all, const SegmentWish& segments,
                     std::shared_ptr<SegmentMemory>& out) {
  const auto& [segment_bytes, count, outlives, level1] = segments;
  const std::size_t bytes = NodeSegments::bytes_needed(segment_bytes, count, node.size(), level1);
  Status mine;
  std::shared_ptr<SegmentMemory> made;
  try {
    made = std::make_shared<SegmentMemory>();
  } catch (const std::bad_alloc&) {
    mine = {Code::no_memory, "no memory for what commit mode keeps"};
  }
  NodeMemory fresh;
  NodeMemoryWish wish(bytes);
  wish.reserved = NodeSegments::bytes_at_first(segment_bytes, count, node.size());
  wish.outlives = outlives;
  if (Status status = share_on_node(node, all, wish, std::move(mine), fresh); !status.ok()) return status;
  if (fresh.descriptor.number() >= 0)
    made->kept = KeptMemory(fresh.descriptor.number(), segment_bytes, count, node.size(), level1);
  fresh.descriptor = Descriptor();
  made->outlives = outlives;
  made->level1 = level1;
  made->bytes = bytes;
  made->segment_bytes = segment_bytes;
  made->memory = std::move(fresh);
  out = std::move(made);
  return {};
}

void NodeSet::give_back(std::shared_ptr<SegmentMemory> memory) {
  spare_ = std::move(memory);
  spare_->claim = MemoryClaim(MemoryClaim::Kind::window, spare_->claim.bytes());
}

std::int64_t NodeSet::claimed_for_windows() const {
  return planned_.bytes() + planned_outbox_.bytes() +
         (window_ ? window_->claim.bytes() + window_->outbox.claim.bytes() : 0);
}

void NodeSet::drop_memory() {
  planned_ = {};
  planned_outbox_ = {};
  window_.reset();
  spare_.reset();
}

Rail* NodeSet::rail(forebay::Link wanted) {
  if (!topology_.rail_comm) return nullptr;
  Rail* rail = nullptr;
  indispensable([&] {
    auto& kept = rails_[wanted];
    if (kept == nullptr) {
      kept = topology_.rail_comm->make_rail(*topology_.aggregator_comm, wanted, link_used_);
      measured_rate_ = static_cast<std::int64_t>(kept->rate());
    }
    rail = kept.get();
  });
  return rail;
}

}  // namespace forebay
