// Opening a file: agreement on its settings, how it is cut, and what writes it.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "base/hints.hpp"
#include "engine/agreement.hpp"
#include "engine/file_context.hpp"
#include "engine/start_keeping.hpp"
#include "engine/stock_report.hpp"
#include "storage/stored_file.hpp"

namespace forebay {
namespace {

std::int64_t info_number(MPI_File file, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  if (file == MPI_FILE_NULL || MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL)
    return 0;
  const mpi::Info owner(info);
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found != 0 ? std::atoll(value.data()) : 0;
}

}  // namespace

Status CoreFile::open(MPI_Comm comm, const FileOptions& options, std::unique_ptr<CoreFile>& out) {
  std::unique_ptr<CoreFile> file(new CoreFile);
  FileContext& s = *file->file_;
  s.options = options;
  s.options.info = MPI_INFO_NULL;  // the caller may free it
  s.options.opened = nullptr;
  s.settings = options.settings;
  const mpi::CollectiveCall call({"open", options.path, comm, MPI_COMM_NULL, s.settings.patience_seconds});
  const bool writable = (options.amode & MPI_MODE_RDONLY) == 0;
  s.readable = (options.amode & MPI_MODE_WRONLY) == 0;
  StoredFile::Request request{options.path,         options.amode, options.info,
                              options.needs_handle, false,         options.opened};
  std::int64_t led = 0;
  if (!options.settings_shared) {
    led = mpi::rank(comm) == 0 ? s.file.lead(request, s.settings) : kNoOffset;
    if (Status status = share_settings(comm, {}, options.path, s.settings, {&led, 1}); !status.ok())
      return status;
  }
  SetChoice choice;
  if (mpi::rank(comm) == 0) choice = Seat::choose(comm, s.wish());
  if (MPI_Bcast(choice.values.data(), static_cast<int>(choice.values.size()), MPI_INT64_T, 0, comm) !=
      MPI_SUCCESS)
    return {Code::mpi, "the ranks that open " + options.path + " cannot reach each other"};
  s.take(Seat(comm, s.wish(), choice));
  s.comm = s.seat.take_comm(comm);
  if (options.keeping == Keeping::nothing || s.settings.storage == StorageKind::null || !writable)
    s.settings.mode = Mode::strict;
  request.needs_descriptor = options.needs_descriptor || s.settings.mode == Mode::commit;
  std::array<std::int64_t, FileContext::kMemoryOffers> memory{};
  Status status = s.open_stored(request, led, memory, options.elsewhere);
  if (!status.ok()) {
    s.seat.leave_comm(std::move(s.comm));
    return status;
  }

  if (s.settings.storage == StorageKind::null && mpi::rank(s.comm.get()) == 0)
    warn_once("forebay_storage=null: " + options.path + " will NOT hold what is written to it");
  // Who only reads may never need one.
  if (writable || memory[FileContext::kCapacity] >= s.layout.round_bytes()) status = s.make_window(memory);
  // A failure so far is one on all ranks.
  if (!status.ok()) {
    status = spread_failure(s.comm.get(), status);
  } else {
    const bool commits = s.settings.mode == Mode::commit;
    if (commits) status = start_keeping(s, file->keeper_);
    file->note_open();  // other threads that open the file ask the keeper from now on
    if (commits) status = agree_outcome(s.comm.get(), status);
  }
  if (!status.ok()) {
    s.again.reset();
    file->keeper_.reset();
    s.storage = nullptr;
    (void)s.file.close();
    return status;
  }
  if (!s.settings.stats.empty() && mpi::rank(s.comm.get()) == 0)
    s.reported_path = reported_path(options.path, s.file.descriptor());
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
      if (file_->options.when_opened_again) return file_->options.when_opened_again(*this);
      if (Status status = flush_alone(); !status.ok()) defer(std::move(status));
    });
  } catch (const std::bad_alloc&) {  // as if there were no other
  }
}

Status FileContext::open_stored(const StoredFile::Request& request, std::int64_t led,
                                std::span<std::int64_t> memory, Status mine) {
  const Topology& t = nodes->topology();
  const bool first = mpi::rank(comm.get()) == 0;
  file.open(comm.get(), request, settings, led);
  mine.update(file.status());
  // All ranks must agree, whatever they read from their file handle: in one message, since opening many small
  // files is nothing but messages.
  enum : std::size_t { kMine = StoredFile::kOffer, kStripe, kMemory, kCount = kMemory + kMemoryOffers };
  std::array<std::int64_t, kCount> values{};
  file.offer(values);
  values[kMine] = mine.ok() ? 1 : 0;
  values[kStripe] = first ? choose_stripe() : kNoOffset;  // of rank 0 alone
  offer_memory({values.data() + kMemory, kMemoryOffers});
  mpi::allreduce(values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MIN, comm.get());
  std::copy_n(values.begin() + kMemory, kMemoryOffers, memory.begin());
  if (values[kMine] == 0) {
    Status status = spread_failure(comm.get(), mine);
    // Nobody knows the reason.
    if (status.code() == Code::peer) status = {Code::mpi, status.message()};
    if (StoredFile::opened(values))
      (void)file.close();
    else
      file.give_up();
    return status;
  }
  const bool had_handle = file.handle() != MPI_FILE_NULL;
  Status status = file.settle(comm.get(), t.node, t.nodes, settings, values);
  if (!had_handle && settings.storage != StorageKind::posix) status = agree_outcome(comm.get(), status);
  if (!status.ok()) {
    if (had_handle)
      (void)file.close();
    else
      file.give_up();
    return status;
  }
  if (!had_handle && file.handle() != MPI_FILE_NULL) {
    // It may know the file system's stripes.
    if (first) values[kStripe] = choose_stripe();
    MPI_Bcast(&values[kStripe], 1, MPI_INT64_T, 0, comm.get());
  }
  layout = fit(values[kStripe], wanted_round(values[kStripe]), memory[kRoundThatFits]);
  share_to_keep = memory[kShare];
  storage = &file.storage();
  if (file.local()) bypass.read_from_memory();
  return {};
}

std::int64_t FileContext::choose_stripe() const {
  if (settings.stripe_bytes > 0) return settings.stripe_bytes;
  std::int64_t stripe = info_number(file.handle(), "striping_unit");
  if (stripe <= 0) stripe = file.preferred_unit();
  return stripe > 0 ? stripe : kDefaultStripe;
}

}  // namespace forebay
