#include "engine/staging.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "engine/file_context.hpp"
#include "stage/node_stage.hpp"
#include "stage/staged_storage.hpp"
#include "stage/stages.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kShare = 8 << 20;  // of a whole file that all ranks of a node fetch: by turns

/// As the first rank of a node tells the others.
struct Found {
  std::array<char, 4096> name, path;
  FileId id;
  std::int64_t size, changed_at;
};

bool stamp_file(const FileContext& file, FileStamp& out) {
  const std::string name = file.file.name_now();
  if (const int descriptor = file.file.any_descriptor(); descriptor >= 0)
    return stamp_of(descriptor, name, out);
  FileId id;
  return file.file.identity(id) && stamp_at(name, out) && out.id == id;
}

// Empty names: there is none, which is no mistake. `stage`: this rank's, which keeps it there for the others.
Status find(const FileContext& file, Found& out, std::unique_ptr<NodeStage>& stage) {
  StageWish wish;
  const std::string& folder = file.settings.stage;
  if (folder.empty()) return {};
  if (!stamp_file(file, wish.file))
    return {Code::unsupported, "it cannot be told which file " + file.options.path + " is, to stage it"};
  if (wish.file.size == 0) return {};
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr), &std::free);
  if (!real) return from_errno(errno, "cannot keep a stage in " + folder);
  wish.folder = real.get();
  wish.stripe_bytes = file.layout.stripe_bytes();
  wish.bytes = file.settings.stage_bytes;
  wish.kind = file.settings.stage_kind;
  if (Status status = find_stage(wish, stage); !status.ok()) return status;
  const std::string& name = stage->name();
  if (name.size() >= out.name.size() || wish.file.path.size() >= out.path.size())
    return {Code::bad_argument, "the name of " + folder + " is too long for a stage"};
  name.copy(out.name.data(), out.name.size() - 1);
  wish.file.path.copy(out.path.data(), out.path.size() - 1);
  out.id = wish.file.id;
  out.size = wish.file.size;
  out.changed_at = wish.file.changed_at;
  return {};
}

// Each rank its part, then whatever nobody is at.
void fetch_whole(FileContext& file, NodeStage& stage) {
  const StageTimer timer(file.counters, forebay::Stage::read);
  const Topology& t = file.nodes->topology();
  StageTally tally;
  const std::int64_t size = stage.identity().size;
  for (std::int64_t at = kShare * t.local_rank; at < size; at += kShare * t.local_ranks)
    (void)stage.fetch(at, at + kShare, kNoOffset, file.file.storage(), tally);
  (void)stage.fetch(0, size, kNoOffset, file.file.storage(), tally);
  file.counters.stage_fetches += tally.fetches;
  file.counters.stage_fetched_bytes += tally.fetched_bytes;
}

constexpr std::int64_t kMostAhead = 64 << 20;  // bytes of a rank

// Nothing is, where this rank cannot.
void start_ahead(FileContext& file, const NodeStage& stage) {
  const std::int64_t most = std::min(kMostAhead, stage.bound() / 4 / file.nodes->topology().local_ranks);
  if (file.settings.stage_ahead == StageAhead::none || most < stage.identity().unit) return;
  const FileStamp stamp = stage.identity().stamp();
  Descriptor descriptor(::open(stamp.path.c_str(), O_RDONLY | O_CLOEXEC));
  FileId id;
  if (descriptor.number() < 0 || !id_of(descriptor.number(), id) || id != stamp.id) return;
  std::unique_ptr<NodeStage> view;
  if (!NodeStage::attach(stage.name(), stamp, view).ok()) return;
  file.ahead =
      std::make_unique<ReadAhead>(std::make_unique<FetchAhead>(std::move(view), std::move(descriptor), most));
}

}  // namespace

void start_staging(FileContext& file) {
  const Topology& t = file.nodes->topology();
  if (file.options.mode.writes) {
    if (file.comm->rank() == 0)
      warn_few("forebay_stage and files that are written",
               "forebay_stage: " + file.options.path + " is opened to write, so it is not staged", 1);
    return;
  }
  const bool first = t.local_rank == 0;
  const auto found = std::make_unique<Found>();
  std::unique_ptr<NodeStage> stage;
  Status status;
  if (first) {
    try {
      status = find(file, *found, stage);
    } catch (const std::bad_alloc&) {
      status = file.no_memory("for a stage of ");
    }
    if (!status.ok()) {
      found->name.front() = '\0';
      stage.reset();
    }
  }
  t.node_comm->broadcast(found.get(), sizeof(Found), 0);
  bool certain = true;
  try {
    if (!first && found->name.front() != '\0')
      status = NodeStage::attach(found->name.data(),
                                 {found->path.data(), found->id, found->size, found->changed_at}, stage);
    if (status.ok() && stage) {
      const bool whole = file.settings.stage_kind == StageKind::whole;
      if (whole && first && stage->bound() < found->size)
        warn_few("forebay_stage_kind=whole", "forebay_stage_kind=whole: of the " +
                                                 std::to_string(found->size) + " bytes of " +
                                                 file.options.path + " " + std::to_string(stage->bound()) +
                                                 " have room in " + file.settings.stage);
      if (whole && !stage->compact()) fetch_whole(file, *stage);
      certain = stage->is_certain();
      start_ahead(file, *stage);
      file.staged = make_staged_storage(file.file.storage(), std::move(stage), file.counters,
                                        [&file] { return file.opened_again.load() || file.twice(); });
      file.storage = file.staged.get();
    }
  } catch (const std::bad_alloc&) {
    status = file.no_memory("for a stage of ");
  }
  if (first && file.staged && !certain) file.own_stage = found->name.data();
  if (!status.ok())
    warn_few("forebay_stage", status.message() + "; " + file.options.path + " is read without a stage");
}

void stop_staging(FileContext& file) {
  if (file.ahead) {
    const StageTally tally = file.ahead->stop();
    file.counters.stage_fetches += tally.fetches;
    file.counters.stage_fetched_bytes += tally.fetched_bytes;
    file.counters.stage_ahead_bytes += tally.fetched_bytes;
    file.ahead.reset();
  }
  file.staged.reset();
}

void remove_own_stage(FileContext& file) {
  if (!file.own_stage.empty()) (void)remove_stage(file.own_stage);
  file.own_stage.clear();
}

}  // namespace forebay
