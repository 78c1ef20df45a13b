#include "engine/kept_on_node.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/write_behind.hpp"
#include "storage/emergency_writer.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

constexpr int kLeastSegments = 4;
constexpr std::int64_t kMostSegments = 1 << 20;
constexpr std::int64_t kMostSegment = 1 << 30;

// With the marks, a bit a byte.
std::int64_t with_marks(std::int64_t bytes) {
  return bytes + bytes / 8;
}

}  // namespace

KeptOnNode::KeptOnNode(std::shared_ptr<SegmentMemory> memory, int count, int ranks, int rank,
                       const std::string& path, const StoredFile& file)
    : segments(memory->memory.at, memory->segment_bytes, count, ranks, rank),
      memory_(std::move(memory)),
      path_(path),
      file_(file) {}

std::int64_t KeptOnNode::least_share(int ranks) {
  const auto bytes = NodeSegments::bytes_needed(NodeSegments::kLeastSegment, kLeastSegments, ranks);
  return (static_cast<std::int64_t>(bytes) + ranks - 1) / ranks;
}

std::int64_t KeptOnNode::choose_segment_bytes(const Settings& settings, const FileDomains& layout,
                                              int ranks) {
  const std::int64_t bytes =
      settings.segment_bytes > 0
          ? (settings.segment_bytes + 63) / 64 * 64
          : NodeSegments::choose_segment_bytes(layout.stripe_bytes(), pool_bound(settings) * ranks, ranks);
  return std::min(bytes, kMostSegment);
}

Status KeptOnNode::create(const Lease& lease, const Topology& t, const Communicator& all,
                          const Settings& settings, const FileDomains& layout, const std::string& path, StoredFile& file, Counters& counters,
                          bool can_fill, bool only_writer, std::unique_ptr<KeptOnNode>& out) {
  const std::int64_t bound = pool_bound(settings) * t.local_ranks;
  const std::int64_t bytes = choose_segment_bytes(settings, layout, t.local_ranks);
  const std::int64_t wanted =
      settings.segments > 0 ? std::int64_t{settings.segments} * t.local_ranks : bound / with_marks(bytes);
  const int count = static_cast<int>(std::clamp<std::int64_t>(wanted, kLeastSegments, kMostSegments));
  Status status;
  try {
    std::shared_ptr<SegmentMemory> memory;
    if (Status leased = lease(bytes, count, memory); !leased.ok()) return leased;
    memory->claim =
        MemoryClaim(MemoryClaim::Kind::keeping, static_cast<std::int64_t>(memory->bytes) / t.local_ranks);
    out.reset(new KeptOnNode(std::move(memory), count, t.local_ranks, t.local_rank, path, file));
    out->most_ = most_of_small_call(settings);
    out->counters_ = &counters;
    if (t.local_rank == 0) out->segments.initialize();
  } catch (const std::bad_alloc&) {
    status = {Code::no_memory, "no memory for what commit mode keeps of " + path};
  }
  bool locks = false;
  if (can_fill && only_writer && t.nodes > 1 && settings.storage == StorageKind::posix) {
    // All or none, on all nodes.
    if (status.ok()) locks = FileLock(file.descriptor(), 0, 1).held();
    locks = all.all(locks);
  }
  if (status.ok()) {
    out->locks = locks;
    try {
      out->segments.attach(file.storage(), counters, std::chrono::seconds(settings.commit_seconds),
                           t.nodes == 1 ? can_fill : out->locks, out->locks ? file.descriptor() : -1,
                           file.mark());
    } catch (const std::bad_alloc&) {
      status = {Code::no_memory, "no memory for what commit mode keeps of " + path};
    }
  }
  // Nobody may keep anything before rank 0 has made room.
  return agree_outcome(all, status);
}

KeptOnNode::~KeptOnNode() {
  unwatch(*this);
}

// Not at each put: it asks for the handler of every signal.
void KeptOnNode::be_watched() {
  if (!watching_) watch(*this);
  watching_ = true;
}

Status KeptOnNode::put(const Put& put) {
  be_watched();
  segments.drain_overdue();
  Status status = segments.put(put);
  counters_->pool_peak_bytes = std::max(counters_->pool_peak_bytes, segments.kept());
  return status;
}

void KeptOnNode::write_out(Ending ending) noexcept {
  if (segments.kept() > 0) {
    if (ending.in_signal) {
      if (!segments.write_out_in_signal(file_.descriptor())) return say_not_written(path_.c_str());
    } else if (const Status status = segments.drain(); !status.ok()) {
      return warn_once("as the program ended: " + status.message());
    }
  }
  if (counted_by != nullptr) counted_by->written_by_node(ending);
}

}  // namespace forebay
