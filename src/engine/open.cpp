// Opening a file: agreement on its settings, how it is cut, and what writes it.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/hints.hpp"
#include "engine/agreement.hpp"
#include "engine/file_state.hpp"
#include "storage/stored_file.hpp"

namespace forebay {
namespace {

// Ranks that read different hints would wait for each other for ever: rank 0's settings hold, but for what
// only tests set.
void share_settings(MPI_Comm comm, Settings& s, std::int64_t& led, SetChoice& choice) {
  std::array<std::int64_t, 20 + SetChoice::kCount> v{s.enabled,
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
                                 led,
                                 static_cast<std::int64_t>(s.check)};
  std::copy(choice.values.begin(), choice.values.end(), v.end() - SetChoice::kCount);
  MPI_Bcast(v.data(), static_cast<int>(v.size()), MPI_INT64_T, 0, comm);
  std::copy(v.end() - SetChoice::kCount, v.end(), choice.values.begin());
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
  led = v[18];
  s.check = static_cast<Check>(v[19]);
  if (v[10] == 0) s.stats.clear();
  if (v[10] != 0 && s.stats.empty())
    s.stats = "-";  // only rank 0 writes; the others must know that it gathers
}

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
  State& s = *file->state_;
  s.options = options;
  s.options.info = MPI_INFO_NULL;  // the caller may free it
  s.options.opened = nullptr;
  s.settings = options.settings;
  const bool writable = (options.amode & MPI_MODE_RDONLY) == 0;
  s.readable = (options.amode & MPI_MODE_WRONLY) == 0;
  StoredFile::Request request{options.path,         options.amode, options.info,
                              options.needs_handle, false,         options.opened};
  std::int64_t led = 0;
  SetChoice choice;
  if (mpi::rank(comm) == 0) {
    led = s.file.lead(request, s.settings);
    choice = Seat::choose(comm, s.wish());
  }
  share_settings(comm, s.settings, led, choice);
  s.take(Seat(comm, s.wish(), choice));
  s.comm = s.seat.take_comm(comm);
  if (options.keeping == Keeping::nothing || s.settings.storage == StorageKind::null || !writable)
    s.settings.mode = Mode::strict;
  request.needs_descriptor = options.needs_descriptor || s.settings.mode == Mode::commit;
  std::array<std::int64_t, State::kMemoryOffers> memory{};
  Status status = s.open_stored(request, led, memory);
  if (!status.ok()) return status;

  if (s.settings.storage == StorageKind::null && mpi::rank(s.comm.get()) == 0)
    warn_once("forebay_storage=null: " + options.path + " will NOT hold what is written to it");
  if (writable) {
    // Collective with its own agreement: a rank whose storage failed still takes part.
    status.update(s.make_window(memory));
  }
  if (status.ok() && s.settings.mode == Mode::commit) status = s.start_keeping();
  if (status = agree_outcome(s.comm.get(), status); !status.ok()) {
    s.on_node.reset();
    s.behind.reset();
    s.storage = nullptr;
    (void)s.file.close();
    return status;
  }
  s.seat.let_go();
  out = std::move(file);
  return {};
}

Status CoreFile::State::open_stored(const StoredFile::Request& request, std::int64_t led,
                                    std::span<std::int64_t> memory) {
  const Topology& t = nodes->topology();
  const bool first = mpi::rank(comm.get()) == 0;
  file.open(comm.get(), request, settings, led);
  // All ranks must agree, whatever they read from their file handle: in one message, since opening many small
  // files is nothing but messages.
  enum : std::size_t { kStripe = StoredFile::kOffer, kMemory, kCount = kMemory + kMemoryOffers };
  std::array<std::int64_t, kCount> values{};
  file.offer(values);
  values[kStripe] = first ? choose_stripe() : kNoOffset;  // of rank 0 alone
  offer_memory({values.data() + kMemory, kMemoryOffers});
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MIN,
                comm.get());
  std::copy_n(values.begin() + kMemory, kMemoryOffers, memory.begin());
  if (!StoredFile::opened(values)) {
    Status status = spread_failure(comm.get(), file.status());
    file.give_up();
    return status;
  }
  const bool had_handle = file.handle() != MPI_FILE_NULL;
  Status status = file.settle(comm.get(), t.node, t.nodes, settings, values);
  if (status = agree_outcome(comm.get(), status); !status.ok()) {
    (void)file.close();
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
  return {};
}

std::int64_t CoreFile::State::choose_stripe() const {
  if (settings.stripe_bytes > 0) return settings.stripe_bytes;
  std::int64_t stripe = info_number(file.handle(), "striping_unit");
  if (stripe <= 0) stripe = file.preferred_unit();
  return stripe > 0 ? stripe : kDefaultStripe;
}

}  // namespace forebay
