#include "engine/file_context.hpp"

namespace forebay {

static_assert(Agreement::kMost == NodeWindow::kMostAgreed);

void FileContext::agree(Agreement& agreement, const std::function<void()>& meanwhile) {
  const StageTimer timer(counters, Stage::agree);
  // On one node memory is faster than a message, several times over where ranks share cores.
  if (NodeWindow* const sync_point = this->sync_point(); sync_point != nullptr)
    sync_point->agree(agreement.least(), agreement.sums(), meanwhile);
  else
    comm->reduce(agreement.least(), agreement.sums(), meanwhile);
  CollectiveCall::all_have_come();
  agreement.reduced();
}

Status FileContext::outcome(const Status& mine) {
  Agreement agreed;
  const auto well = agreed.all(mine.ok());
  agree(agreed);
  return agreed[well] ? Status{} : spread_failure(*comm, mine);
}

void FileContext::barrier() {
  const StageTimer timer(counters, Stage::agree);
  if (NodeWindow* const sync_point = this->sync_point(); sync_point != nullptr)
    sync_point->barrier();
  else
    comm->barrier();
  CollectiveCall::all_have_come();
}

// MPI-IO's collective calls wait without a word.
void FileContext::barrier_for_mpi() {
  if (file.handle() != nullptr) barrier();
}

Status FileContext::shown(Status mine) {
  if (!file.views_differ()) return mine;
  mine.update(file.show());
  mine = outcome(mine);
  file.look_anew();
  return mine;
}

Flush FileContext::flush_over(Window& window) {
  Flush flush = flush_alone(window, layout);
  const Topology& t = nodes->topology();
  flush.rail = nodes->rail(settings.link);
  flush.node = t.node;
  flush.nodes = t.nodes;
  return flush;
}

Flush FileContext::flush_alone(Window& window, const FileDomains& domains) {
  const Topology& t = nodes->topology();
  Flush flush{*window.view, domains, *storage, counters, window.scratch, window.sequence};
  flush.aggregator = t.rail;
  flush.writes_for = t.writes_for;
  flush.fill_holes = readable && file.fills_holes() && !logged();
  flush.mark = file.mark();
  return flush;
}

Status FileContext::write_now(std::span<const Put> puts) {
  Status status;
  for (const Put& put : puts) {
    status.update(bypass.write(put, layout.stripe_bytes(), *storage, counters));
    if (!status.ok()) break;
  }
  return status;
}

// In this machine's own page cache a call costs less than a second copy of so many bytes.
std::int64_t FileContext::long_run() const {
  constexpr std::int64_t on_local = 16 << 10;
  if (file.local()) return std::min(settings.bypass_bytes, on_local);
  if (file.views_differ()) return 0;  // a stripe has one writer, so that its node has nothing old of it
  return cheaper_alone > 0 ? std::min(settings.bypass_bytes, cheaper_alone) : settings.bypass_bytes;
}

NodeWindow* FileContext::gate() const {
  if (settings.mode == Mode::commit || !readable || file.descriptor() < 0 || !file.fills_holes() ||
      settings.storage != StorageKind::posix || nodes->topology().nodes > 1)
    return nullptr;
  return sync_point();
}

CollectiveCall::About FileContext::about(const char* call) const {
  return {call, options.path, comm.get(), true, settings.patience_seconds};
}

Status FileContext::no_memory(const char* what) const {
  return {Code::no_memory, std::string("no memory ") + what + options.path};
}

}  // namespace forebay
