// Opening a file: agreement on its settings, how it is cut, and what writes it.
#include <algorithm>
#include <array>
#include <new>

#include "base/hints.hpp"
#include "engine/file_context.hpp"
#include "engine/keeper.hpp"
#include "engine/opening.hpp"
#include "engine/staging.hpp"
#include "engine/stock_report.hpp"
#include "layout/owner_nodes.hpp"
#include "ranks/agreement.hpp"
#include "storage/stored_file.hpp"

namespace forebay {

Status CoreFile::open(const Communicator& ranks, const FileOptions& options, std::unique_ptr<CoreFile>& out) {
  std::unique_ptr<CoreFile> file(new CoreFile);
  FileContext& s = *file->file_;
  s.options = options;
  s.options.opener = nullptr;  // the caller's
  s.options.opened = nullptr;
  s.settings = options.settings;
  const std::int64_t began = Trace::now();
  const CollectiveCall call({"open", options.path, &ranks, false, s.settings.patience_seconds});
  const bool writable = options.mode.writes;
  s.readable = options.mode.reads;
  StoredFile::Request request{options.path,         options.mode, options.opener,
                              options.needs_handle, false,        options.opened};
  if (!options.settings_shared) {
    if (Status status = share_settings(ranks, {}, options.path, s.settings); !status.ok()) return status;
  }
  struct {
    SetChoice set;
    std::int64_t led = 0;
  } choice;
  if (ranks.rank() == 0) choice = {Seat::choose(ranks, s.wish()), s.file.lead(request, s.settings)};
  if (!ranks.broadcast(&choice, sizeof choice, 0))
    return {Code::mpi, "the ranks that open " + options.path + " cannot reach each other"};
  s.take(Seat(ranks, s.wish(), choice.set));
  s.comm = s.seat.take_comm(ranks);
  if (StoredFile::may_lay_out(request, s.settings, choice.led)) {
    // The owners are known now.
    if (ranks.rank() == 0) {
      choice.led = s.file.lay_out(request, s.settings, s.nodes->topology().owners().count(0), choice.led);
    }
    ranks.broadcast(&choice.led, sizeof choice.led, 0);
  }
  if (options.keeping == Keeping::nothing || s.settings.storage == StorageKind::null || !writable)
    s.settings.mode = Mode::strict;
  // A keeper process reads segments only.
  if (s.settings.mode == Mode::automatic && options.keeping == Keeping::by_rank)
    s.options.keeping = Keeping::by_node;
  request.needs_descriptor = options.needs_descriptor || s.settings.mode != Mode::strict;
  // Who owns nothing, and keeps nothing, may never touch the file.
  const Topology& t = s.nodes->topology();
  request.may_wait = !request.needs_descriptor && t.nodes > 1 && (t.rail < 0 || !t.node_may_own());
  if (ranks.rank() == 0 && !owner_nodes(s.settings.owner_nodes, t.nodes))
    warn_once("forebay_owner_nodes=" + text_of(s.settings.owner_nodes) +
              " is left out: the last node is number " + std::to_string(t.nodes - 1));
  FileContext::Memory memory{};
  Status status = s.open_stored(request, choice.led, memory, options.elsewhere);
  if (!status.ok()) {
    s.seat.leave_comm(std::move(s.comm));
    return status;
  }

  if (s.settings.storage == StorageKind::null && s.comm->rank() == 0)
    warn_once("forebay_storage=null: " + options.path + " will NOT hold what is written to it");
  // Who only reads may never need one.
  if (writable || memory.capacity >= s.layout.round_bytes()) status = s.prepare_window(memory);
  if (status.ok() && writable) s.compare_link(memory.alone);
  // A failure so far is one on all ranks.
  if (!status.ok()) {
    status = spread_failure(*s.comm, status);
  } else {
    if (s.settings.mode != Mode::strict) status = start_keeping(s, file->keeper_);
    file->note_open();  // other threads that open the file ask the keeper from now on
    if (status.ok() && s.settings.has_stage) start_staging(s);
  }
  if (!status.ok()) {
    s.again.reset();
    file->keeper_.reset();
    s.storage = nullptr;
    (void)s.file.close();
    return status;
  }
  if (!(s.settings.stats.empty() && s.settings.trace.empty()) && s.comm->rank() == 0)
    s.reported_path = reported_path(options.path, s.file.descriptor());
  if (!s.settings.trace.empty()) begin_timeline(s, began);
  s.seat.let_go();
  out = std::move(file);
  return {};
}

void CoreFile::note_open() {
  FileContext& s = *file_;
  FileId id;
  if (!s.file.identity(id) && !id_at(s.options.path, id)) return;
  try {
    s.again.emplace(id, [this] {
      file_->opened_again = true;
      if (file_->options.when_opened_again) return file_->options.when_opened_again(*this);
      if (Status status = flush_independent(); !status.ok()) defer(std::move(status));
    });
  } catch (const std::bad_alloc&) {  // as if there were no other
  }
}

Status FileContext::open_stored(const StoredFile::Request& request, std::int64_t led, Memory& memory,
                                Status mine) {
  const Topology& t = nodes->topology();
  try {
    file.open(*comm, request, settings, led);
    mine.update(file.status());
  } catch (const std::bad_alloc&) {  // the others wait for what this rank says
    mine.update(no_memory("to open "));
  }
  // All ranks must agree, whatever they read from their file handle: in one message, since opening many small
  // files is nothing but messages. Of the striping rank 0 has the word.
  const auto striping_here = [&] {
    if (comm->rank() != 0) return Striping{kNoOffset, kNoOffset};
    const Cut cut = choose_striping();
    stripe_source = cut.source;
    return cut.striping;
  };
  Striping striping = striping_here();
  Agreement agreed;
  file.offer(agreed);
  const auto well = agreed.all(mine.ok());
  const auto unit = agreed.minimum(striping.unit), factor = agreed.minimum(striping.factor);
  const MemoryOffer offer = offer_memory(agreed);
  agreed.reduce_over(*comm);
  memory = offer.of(agreed);
  striping = {agreed[unit], agreed[factor]};
  if (!agreed[well]) {
    Status status = spread_failure(*comm, mine);
    // Nobody knows the reason.
    if (status.code() == Code::peer) status = {Code::mpi, status.message()};
    if (file.opened(agreed))
      (void)file.close();
    else
      file.give_up();
    return status;
  }
  const bool had_handle = file.handle() != nullptr;
  Status status = file.settle(*comm, t.node, t.nodes, settings, agreed);
  if (!had_handle && settings.storage != StorageKind::posix) status = agree_outcome(*comm, status);
  if (!status.ok()) {
    if (had_handle)
      (void)file.close();
    else
      file.give_up();
    return status;
  }
  if (!had_handle && file.handle() != nullptr) {
    // It may know the file system's stripes.
    striping = striping_here();
    comm->broadcast(&striping, sizeof striping, 0);
  }
  cut(striping, memory);
  share_to_keep = memory.share;
  storage = &file.storage();
  if (file.local()) bypass.read_from_memory();
  return {};
}

// What the file says itself counts more than what MPI-IO has heard: that repeats a hint, as often as not.
FileContext::Cut FileContext::choose_striping() const {
  const Striping laid_out = file.stripes();
  const Striping told =
      laid_out.unit == 0 && file.handle() != nullptr ? file.handle()->striping() : Striping{0, 0};
  const Striping& stored = laid_out.unit > 0 ? laid_out : told;
  if (settings.stripe_bytes > 0) {
    // Stripes of another size than the file system's do not go round its targets.
    return {{settings.stripe_bytes, settings.stripe_bytes == stored.unit ? stored.factor : 0}, "hint"};
  }
  if (laid_out.unit > 0) return {laid_out, "lustre.lov"};
  if (told.unit > 0) return {told, "MPI-IO"};
  if (settings.striping_unit > 0) return {{settings.striping_unit, 0}, "hint"};
  if (const std::int64_t unit = file.preferred_unit(); unit > 0) return {{unit, 0}, "st_blksize"};
  return {{kDefaultStripe, 0}, "default"};
}

}  // namespace forebay
