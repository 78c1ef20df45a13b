#include "engine/keeper.hpp"

#include <new>
#include <string>
#include <utility>

#include "base/memory_account.hpp"
#include "base/speaker.hpp"
#include "engine/file_context.hpp"
#include "engine/keep_by_node.hpp"
#include "engine/keep_by_rank.hpp"
#include "engine/keep_in_log.hpp"
#include "ranks/agreement.hpp"

namespace forebay {
namespace {

// Who left it to Forebay hears of it where he asked to hear more.
Status be_strict(FileContext& f, const std::string& why) {
  if (f.comm->rank() == 0 && (f.settings.mode == Mode::commit || verbose()))
    warn_once("forebay_mode=strict for " + f.options.path + ": " + why);
  f.settings.mode = Mode::strict;
  return {};
}

// Where space of the file becomes free for other ranks without a word.
bool is_kept_on_one_node_only(const FileContext& f) {
  return f.nodes->topology().nodes > 1 && f.options.keeping != Keeping::by_rank &&
         !f.options.tells_freed_space;
}

Status one_node_only(FileContext& f) {
  return be_strict(f, "writes of " + f.options.driver + " are kept on one node only here");
}

Status keep_by_rank(FileContext& f, std::unique_ptr<Keeper>& keeper) {
  // Without it the number of records in the header is that of the last sync when a process ends.
  NodeMemory counts = ExitCount::share(f.nodes->topology(), *f.comm);
  Status status;
  try {
    keeper = std::make_unique<KeepByRank>(f, std::move(counts));
  } catch (const std::bad_alloc&) {
    status = f.no_memory("for the pool of ");
  }
  return agree_outcome(*f.comm, status);
}

Status keep_by_node(FileContext& f, std::unique_ptr<Keeper>& keeper) {
  const KeepByNode::Memories memories{*f.nodes->topology().node_comm, f.nodes->comm(), f.nodes.get()};
  bool memory_is_short = false;
  for (;;) {
    std::unique_ptr<KeepByNode> made;
    Status status = KeepByNode::create(f, memories, f.settings, nullptr, made);
    if (status.ok()) {
      if (f.settings.mode == Mode::automatic && made->is_guarded())
        made->need_keeper();
      else if (f.settings.mode == Mode::automatic && f.settings.without_keeper == Mode::strict)
        return be_strict(f, "no keeper process writes what is kept when ranks die");
      f.settings.mode = Mode::commit;
      if (memory_is_short) made->memory_is_short();
      if (made->locks()) f.settings.bypass_bytes = 0;
      keeper = std::move(made);
      return {};
    }
    made.reset();
    // On all ranks, since it has been agreed; now why.
    status = spread_failure(*f.comm, status);
    if (!f.comm->all(status.code() == Code::no_shared_memory)) return status;
    // Others may have taken what was free before: less may do.
    const std::int64_t less = pool_bound(f.settings) / 4;
    if (f.settings.segments != 0 || less < KeepByNode::least_share(f.nodes->topology().most_local_ranks))
      return be_strict(f, status.message() + "; make /dev/shm larger, or set forebay_pool_bytes lower");
    f.settings.pool_bytes = less;
    memory_is_short = true;
    (void)f.bypass.reserve();  // before segments take what is left
  }
}

Status keep_in_log(FileContext& f, std::unique_ptr<Keeper>& keeper) {
  if (is_kept_on_one_node_only(f)) return one_node_only(f);
  Status status = KeepInLog::create(f, keeper);
  if (status.ok()) {
    f.settings.mode = Mode::commit;
    return {};
  }
  status = spread_failure(*f.comm, status);
  return be_strict(f, status.message());
}

}  // namespace

Status start_keeping(FileContext& f, std::unique_ptr<Keeper>& keeper) {
  if (f.settings.has_log) return keep_in_log(f, keeper);
  // As the process ends there would be no way to the file.
  if (f.file.descriptor() < 0) return be_strict(f, f.file.no_descriptor());
  if (f.share_to_keep == 0) {
    if (f.comm->rank() == 0 && (f.settings.mode == Mode::commit || verbose()))
      warn_few("forebay_mode=strict for a file that finds no memory",
               f.options.path + ": the files that are open keep all that forebay_memory_bytes and /dev/shm " +
                   "allow; set the former, or make the latter, larger");
    f.settings.mode = Mode::strict;
    return {};
  }
  if (f.share_to_keep < pool_bound(f.settings)) f.settings.pool_bytes = f.share_to_keep;
  if (f.options.keeping == Keeping::by_rank) return keep_by_rank(f, keeper);
  if (is_kept_on_one_node_only(f)) return one_node_only(f);
  return keep_by_node(f, keeper);
}

}  // namespace forebay
