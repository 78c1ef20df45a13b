// Opening a file: agreement on its settings, how it is cut, and what writes it.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/hints.hpp"
#include "engine/agreement.hpp"
#include "engine/file_state.hpp"
#include "storage/mpiio.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kMostRound = std::int64_t{256} << 20;  // a message of a round is counted by an int

// Ranks that read different hints would wait for each other for ever: rank 0's settings hold, but for what
// only tests set.
void share_settings(MPI_Comm comm, Settings& s) {
  std::array<std::int64_t, 19> v{s.enabled,
                                 static_cast<std::int64_t>(s.mode),
                                 static_cast<std::int64_t>(s.storage),
                                 static_cast<std::int64_t>(s.link),
                                 s.stripe_bytes,
                                 s.window_bytes,
                                 s.memory_bytes,
                                 s.bypass_bytes,
                                 s.aggregators_per_node,
                                 s.ranks_per_node,
                                 s.stats.empty() ? 0 : 1,
                                 s.aggregators,
                                 s.aggregator_bytes,
                                 s.pool_bytes,
                                 s.commit_seconds,
                                 static_cast<std::int64_t>(s.metadata),
                                 s.segment_bytes,
                                 s.segments,
                                 s.patience_seconds};
  mpi::bcast(v.data(), static_cast<int>(v.size()), MPI_INT64_T, 0, comm);
  s.enabled = v[0] != 0;
  s.mode = static_cast<Mode>(v[1]);
  s.storage = static_cast<StorageKind>(v[2]);
  s.link = static_cast<forebay::Link>(v[3]);
  s.stripe_bytes = v[4];
  s.window_bytes = v[5];
  s.memory_bytes = v[6];
  s.bypass_bytes = v[7];
  s.aggregators_per_node = static_cast<int>(v[8]);
  s.ranks_per_node = static_cast<int>(v[9]);
  s.aggregators = static_cast<int>(v[11]);
  s.aggregator_bytes = v[12];
  s.pool_bytes = v[13];
  s.commit_seconds = static_cast<int>(v[14]);
  s.metadata = static_cast<Metadata>(v[15]);
  s.segment_bytes = v[16];
  s.segments = static_cast<int>(v[17]);
  s.patience_seconds = static_cast<int>(v[18]);
  if (v[10] == 0) s.stats.clear();
  if (v[10] != 0 && s.stats.empty())
    s.stats = "-";  // only rank 0 writes; the others must know that it gathers
}

std::int64_t info_number(MPI_File file, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return 0;
  const mpi::Info owner(info);
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found != 0 ? std::atoll(value.data()) : 0;
}

}  // namespace

// A colon after a slash is part of a name.
std::string plain_path(const std::string& path) {
  const std::size_t colon = path.find(':');
  if (colon == std::string::npos || colon < 2 || path.find('/') < colon) return path;
  return path.substr(colon + 1);
}

Status CoreFile::open(MPI_Comm comm, const FileOptions& options, std::unique_ptr<CoreFile>& out) {
  std::unique_ptr<CoreFile> file(new CoreFile);
  State& s = *file->state_;
  s.options = options;
  s.options.info = MPI_INFO_NULL;  // the caller may free it
  s.settings = options.settings;
  const mpi::CollectiveCall call({"open", options.path, comm, MPI_COMM_NULL, s.settings.patience_seconds});
  mpi::duplicate(comm, s.comm.address());
  mpi::CollectiveCall::all_have_come();
  MPI_Comm_set_errhandler(s.comm.get(),
                          MPI_ERRORS_ARE_FATAL);  // as in NodeSet; files have their own, which returns
  share_settings(s.comm.get(), s.settings);
  s.nodes = NodeSet::get(s.comm.get(), s.settings.ranks_per_node, s.settings.aggregators_per_node);
  if (s.settings.aggregators_per_node == 0 && s.settings.aggregators > 0) {
    // cb_nodes counts those of the whole file.
    const int nodes = s.nodes->topology().nodes;
    s.nodes =
        NodeSet::get(s.comm.get(), s.settings.ranks_per_node, (s.settings.aggregators + nodes - 1) / nodes);
  }

  Status status;
  const int error =
      MPI_File_open(s.comm.get(), options.path.c_str(), options.amode, options.info, s.file.address());
  if (error != MPI_SUCCESS) {
    *s.file.address() = MPI_FILE_NULL;
    status = from_mpi(error, "cannot open " + options.path);
  }
  const bool writable = (options.amode & MPI_MODE_RDONLY) == 0;
  using Offer = State::Offer;
  Offer offer = s.offer(status.ok(), writable);
  // All ranks must agree, whatever they read from their file handle: in one message, since opening many small
  // files is nothing but messages.
  mpi::allreduce(offer.values.data(), static_cast<int>(offer.values.size()), MPI_INT64_T, MPI_MIN, s.comm.get());
  if (offer.values[Offer::kWell] == 0) {
    status = spread_failure(s.comm.get(), status);
    (void)s.file.release();  // closing is collective, and some have nothing to close
    return status;
  }

  if (s.settings.storage == StorageKind::null && mpi::rank(s.comm.get()) == 0)
    warn_once("forebay_storage=null: " + options.path + " will NOT hold what is written to it");

  s.layout = Layout(offer.values[Offer::kStripe], offer.values[Offer::kRound], s.nodes->topology().owners());
  s.readable = (options.amode & MPI_MODE_WRONLY) == 0;
  status = s.open_storage(std::move(offer));
  if (writable) {
    // Collective with its own agreement: a rank whose storage failed still takes part.
    Window* window = nullptr;
    status.update(s.nodes->window(s.layout.round_bytes(), window));
    if (window != nullptr && s.nodes->topology().local_rank == 0) s.counters.window_bytes = window->bytes;
  }
  if (options.keeping == Keeping::nothing || s.settings.storage == StorageKind::null || !writable)
    s.settings.mode = Mode::strict;
  if (s.settings.mode == Mode::commit) {
    // Also where this rank has failed: the others would wait for it.
    status = agree_outcome(s.comm.get(), status);
    if (status.ok()) status = s.start_keeping();
  }
  if (status = agree_outcome(s.comm.get(), status); !status.ok()) {
    s.behind.reset();
    s.on_node.reset();
    s.storage.reset();
    s.file.reset();
    return status;
  }
  out = std::move(file);
  return {};
}

CoreFile::State::Offer CoreFile::State::offer(bool opened, bool writable) {
  Offer offer;
  offer.values.fill(kNoOffset);  // of rank 0 alone: how the file is cut
  offer.values[Offer::kWell] = opened ? 1 : 0;
  const std::string path = plain_path(options.path);
  if (opened && mpi::rank(comm.get()) == 0) {
    const Topology& t = nodes->topology();
    std::int64_t stripe = settings.stripe_bytes;
    if (stripe <= 0) stripe = info_number(file.get(), "striping_unit");
    if (stripe <= 0) stripe = preferred_unit(path);
    if (stripe <= 0) stripe = kDefaultStripe;
    // Half of the bound is for the windows: two buffers a node, and marks of a bit a byte for each rank and
    // buffer.
    const double ranks = t.least_local_ranks;
    const double share = static_cast<double>(settings.memory_bytes) / 2 * ranks / (2 + 0.26 * ranks);
    const std::int64_t wanted =
        settings.window_bytes > 0 ? settings.window_bytes : settings.aggregator_bytes * t.owners();
    offer.values[Offer::kStripe] = stripe;
    offer.values[Offer::kRound] = choose_round_bytes(stripe, t.owners(), wanted,
                                                     std::min(kMostRound, static_cast<std::int64_t>(share)));
  }
  if (settings.storage != StorageKind::posix && settings.storage != StorageKind::automatic) return offer;
  const bool chosen = settings.storage == StorageKind::posix;
  const bool safe = chosen ? coherent_file_system(path, offer.kind) : local_file_system(path);
  offer.values[Offer::kSafe] = safe ? 1 : 0;
  offer.values[Offer::kPosix] = 0;
  if (!opened || !safe) return offer;
  offer.status = open_posix_storage(path, writable, offer.posix);
  offer.values[Offer::kPosix] = offer.status.ok() ? 1 : 0;
  return offer;
}

// By pwrite where that is wanted, or where it is safe for certain and so nothing is lost by it: MPI-IO
// libraries lock and unlock at each write. All ranks one way: never both on one file.
Status CoreFile::State::take_posix(const std::string& path, Offer offer) {
  const bool chosen = settings.storage == StorageKind::posix;
  const bool safe = offer.values[Offer::kSafe] != 0, all = offer.values[Offer::kPosix] != 0;
  settings.storage = safe && (chosen || all) ? StorageKind::posix : StorageKind::mpiio;
  if (settings.storage == StorageKind::posix) {
    storage = std::move(offer.posix);
    local = nodes->topology().nodes == 1 && local_file_system(path);
    return std::move(offer.status);
  }
  if (chosen && mpi::rank(comm.get()) == 0)
    warn_once("forebay_storage=posix is not safe on this file system (" + offer.kind + "); " + path +
              " goes through MPI-IO");
  return {};
}

Status CoreFile::State::open_storage(Offer offer) {
  const std::string path = plain_path(options.path);
  if (settings.storage == StorageKind::posix || settings.storage == StorageKind::automatic) {
    if (Status status = take_posix(path, std::move(offer)); !status.ok()) return status;
  }
  if (!storage) storage = make_mpiio_storage(file.get(), path);
  const int rank = mpi::rank(comm.get());
  if (settings.storage == StorageKind::failing && (settings.fail_rank < 0 || settings.fail_rank == rank)) {
    storage = make_failing_storage(std::move(storage), path, settings.fail_after_bytes);
  }
  if (settings.delay_usec > 0) {
    storage = make_delayed_storage(std::move(storage), settings.delay_usec, static_cast<unsigned>(rank + 1));
  }
  return {};
}

}  // namespace forebay
