// Making and finding the sets of windows, and letting go of them when MPI ends.
#include "engine/node_set.hpp"

#include <new>
#include <utility>
#include <vector>

#include "engine/indispensable.hpp"
#include "mpi/collective.hpp"

namespace forebay {

// Sets live until MPI_Finalize: an attribute on MPI_COMM_SELF is deleted there first of all, while MPI still
// works. Open files hold their own reference, so that a library which closes its files inside MPI_Finalize
// finds its windows.
struct NodeSetRegistry {
  std::vector<std::shared_ptr<NodeSet>> sets;
  bool watched = false;

  static NodeSetRegistry& instance() {
    static auto* registry = new NodeSetRegistry;  // never destroyed: exit order is not ours to choose
    return *registry;
  }

  void watch() {
    if (watched) return;
    watched = true;
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void*, void*) {
          instance().sets.clear();
          return MPI_SUCCESS;
        },
        &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
  }
};

std::shared_ptr<NodeSet> NodeSet::get(MPI_Comm comm, int ranks_per_node, int aggregators) {
  auto& registry = NodeSetRegistry::instance();
  registry.watch();
  for (const auto& set : registry.sets) {
    if (set->ranks_per_node_ != ranks_per_node || set->aggregators_ != aggregators) continue;
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(comm, set->comm(), &result);
    if (result == MPI_CONGRUENT || result == MPI_IDENT) return set;
  }
  auto set = std::make_shared<NodeSet>(comm, ranks_per_node, aggregators);
  registry.sets.push_back(set);
  return set;
}

NodeSet::NodeSet(MPI_Comm comm, int ranks_per_node, int aggregators)
    : ranks_per_node_(ranks_per_node), aggregators_(aggregators) {
  MPI_Comm_dup(comm, comm_.address());
  // Ranks that cannot agree any more cannot return in order either: a failed reduction must not pass unseen.
  MPI_Comm_set_errhandler(comm_.get(), MPI_ERRORS_ARE_FATAL);
  topology_ = make_topology(comm_.get(), ranks_per_node, aggregators);
}

Status NodeSet::window(std::int64_t round_bytes, Window*& out) {
  const auto found = windows_.find(round_bytes);
  if (found != windows_.end()) {
    out = found->second.get();
    return {};
  }
  auto window = std::make_unique<Window>();
  const std::size_t bytes = NodeWindow::bytes_needed(topology_.local_ranks, round_bytes);
  window->bytes = static_cast<std::int64_t>(bytes);
  Status mine;
  if (topology_.rail >= 0) {
    try {
      window->scratch.merged.resize(static_cast<std::size_t>(round_bytes) / 64 +
                                    1);  // for the finest granule
    } catch (const std::bad_alloc&) {
      mine = {Code::no_memory, "no memory for an aggregator's marks"};
    }
  }
  // At once: page faults belong here, not into the first flush's inner loop.
  if (Status status = share_on_node(topology_, comm_.get(), bytes, SharedMemory::Pages::at_once,
                                    std::move(mine), window->memory);
      !status.ok())
    return status;
  window->view = std::make_unique<NodeWindow>(window->memory.at, topology_.local_ranks, topology_.local_rank,
                                              round_bytes);
  window->view->set_waited(&mpi::waited);
  window->view->set_idle([] {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  });
  out = window.get();
  windows_.emplace(round_bytes, std::move(window));
  return {};
}

Status NodeSet::lease_segments(std::int64_t segment_bytes, int count, SegmentMemory*& out) {
  const std::size_t bytes = NodeSegments::bytes_needed(segment_bytes, count);
  SegmentMemory* found = nullptr;
  for (const auto& memory : segments_) {
    if (!memory->leased && memory->bytes == bytes && memory->segment_bytes == segment_bytes)
      found = memory.get();
  }
  Status mine;
  std::unique_ptr<SegmentMemory> made;
  if (found == nullptr) {
    try {
      made = std::make_unique<SegmentMemory>();
      segments_.reserve(segments_.size() + 1);
    } catch (const std::bad_alloc&) {
      mine = {Code::no_memory, "no memory for what commit mode keeps"};
    }
  }
  // A node of more ranks needs more, so what one has left from another file the next one may not have.
  int all_found = found != nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all_found, 1, MPI_INT, MPI_MIN, comm_.get());
  if (all_found == 0) {
    NodeMemory fresh;
    if (Status status = share_on_node(topology_, comm_.get(), bytes, SharedMemory::Pages::at_first_touch,
                                      std::move(mine), fresh);
        !status.ok())
      return status;
    if (found != nullptr) {  // its memory is as good
      found->memory = std::move(fresh);
    } else {
      made->bytes = bytes;
      made->segment_bytes = segment_bytes;
      made->memory = std::move(fresh);
      found = made.get();
      segments_.push_back(std::move(made));
    }
  }
  out = found;
  out->leased = true;
  return {};
}

Rail* NodeSet::rail(forebay::Link wanted) {
  if (!topology_.rail_comm) return nullptr;
  Rail* rail = nullptr;
  indispensable([&] {
    auto& kept = rails_[wanted];
    if (kept == nullptr) kept = make_mpi_rail(topology_.rail_comm.get(), wanted, link_used_);
    rail = kept.get();
  });
  return rail;
}

}  // namespace forebay
