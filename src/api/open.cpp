// Flags, hints and what all ranks must agree on before they open.
#include "api/open.hpp"

#include <array>
#include <string>
#include <utility>

#include "base/speaker.hpp"
#include "engine/opening.hpp"
#include "forebay/status.h"
#include "mpi/communicator.hpp"
#include "mpi/file.hpp"
#include "mpi/handles.hpp"
#include "mpi/resolve_settings.hpp"
#include "ranks/agreement.hpp"

namespace forebay::tcio {
namespace {

constexpr int kAllFlags = FOREBAY_RDWR | FOREBAY_CREATE | FOREBAY_EXCL | FOREBAY_TRUNC;

constexpr Opener kTcio{"tcio_open", "tcio", "TCIO", true};

Status check_arguments(const char* path, int flags, const Opener& opener) {
  const std::string function = opener.function;
  if (path == nullptr || *path == '\0') return {Code::bad_argument, function + ": no file name"};
  const std::string which = function + " of " + path + ": ";
  if ((flags & ~kAllFlags) != 0)
    return {Code::bad_argument, which + "unknown flags " + std::to_string(flags & ~kAllFlags)};
  if ((flags & FOREBAY_RDWR) == 0)
    return {Code::bad_argument, which + "neither FOREBAY_RDONLY nor FOREBAY_WRONLY nor FOREBAY_RDWR"};
  if ((flags & FOREBAY_WRONLY) == 0 && (flags & (FOREBAY_TRUNC | FOREBAY_CREATE)) != 0)
    return {Code::bad_argument,
            which + "FOREBAY_CREATE and FOREBAY_TRUNC need FOREBAY_WRONLY or FOREBAY_RDWR"};
  if ((flags & FOREBAY_EXCL) != 0 && (flags & FOREBAY_CREATE) == 0)
    return {Code::bad_argument, which + "FOREBAY_EXCL needs FOREBAY_CREATE"};
  return {};
}

// Nobody counts on bytes before a flush, so a keeper process adds to what is promised, and lacks nothing.
Status settings_for(MPI_Info info, const char* path, bool first, Settings& settings) {
  Status status = resolve_settings(info, "", first, first ? path : "", settings);
  settings.without_keeper = Mode::commit;
  return status;
}

Status truncate(CoreFile& core) {
  std::int64_t size = 0;
  Status status;
  if (core.rank() == 0) status = core.size(size);
  std::int64_t to_cut = status.ok() ? size : 1;
  core.comm().broadcast(&to_cut, sizeof to_cut, 0);
  return to_cut > 0 ? core.set_size(0) : Status{};
}

}  // namespace

Status open_core(MPI_Comm comm, const char* path, int flags, MPI_Info info, const Opener& opener,
                 Opened& out) {
  const mpi::Communicator ranks(comm);
  const bool first = ranks.rank() == 0;
  FileOptions options;
  Status status = check_arguments(path, flags, opener);
  if (status.ok()) status = settings_for(info, path, first, options.settings);
  // Of which the least is taken. Rank 0's settings hold for all.
  enum : std::size_t { kFlags, kNotFlags, kBuffering };
  std::array<std::int64_t, 3> all{flags, ~flags, !first || options.settings.enabled ? 1 : 0};
  const Opening opening{ranks, opener.function, path, options.settings.patience_seconds};
  status = agree_to_open(opening, std::move(status), options.settings, all);
  if (!status.ok()) return status;
  if (all[kFlags] != ~all[kNotFlags])
    return {Code::bad_argument, std::string(opener.function) + " of " + path + ": the ranks' flags differ"};
  if (all[kBuffering] == 0) {
    options.settings.mode = Mode::strict;
    options.settings.log.clear();
    options.settings.has_log = false;
    options.settings.storage = StorageKind::mpiio;
    if (first)
      warn_once(std::string(opener.says) + " writes and reads each piece by itself: forebay_enable is off");
  }
  out.buffering = all[kBuffering] != 0;
  const Access access = out.access = {(flags & FOREBAY_RDONLY) != 0, (flags & FOREBAY_WRONLY) != 0};
  options.path = path;
  options.driver = opener.driver;
  options.keeping = Keeping::by_node;
  // Ranks of different nodes flush before they use each other's bytes.
  options.tells_freed_space = true;
  options.only_writer = true;
  options.level1 = opener.level1;
  options.needs_descriptor = access.writes;  // level 1 may hold bytes in any mode
  const int mode = ((flags & FOREBAY_CREATE) != 0 ? MPI_MODE_CREATE : 0) |
                   ((flags & FOREBAY_EXCL) != 0 ? MPI_MODE_EXCL : 0);

  std::unique_ptr<CoreFile>& core = out.core;
  status = mpi::open(comm, mode | (access.writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY), info, options, core);
  if (status.code() == Code::access && access.writes && !access.reads) {
    // Reading helps to write what has holes, but is not needed.
    status = mpi::open(comm, mode | MPI_MODE_WRONLY, info, options, core);
  }
  if (status.ok() && (flags & FOREBAY_TRUNC) != 0) {
    status = truncate(*core);
    if (!status.ok()) (void)core->close();
  }
  if (status.ok() && verbose() && speaks_for(core->rank(), core->ranks()))
    warn_once(std::string(opener.says) + " runs on Forebay, " + core->mode_in_words());
  if (!status.ok()) core.reset();
  return status;
}

Status open_file(MPI_Comm comm, const char* path, int flags, MPI_Info info, std::unique_ptr<File>& out) {
  Opened opened;
  Status status = open_core(comm, path, flags, info, kTcio, opened);
  if (!status.ok()) return status;
  try {
    out = std::make_unique<File>(std::move(opened.core), opened.access, opened.buffering);
  } catch (const std::bad_alloc&) {
    status = {Code::no_memory, "no memory for " + std::string(path)};
  }
  if (status = agree_outcome(mpi::Communicator(comm), status); !status.ok()) {
    if (out) (void)out->close();
    out.reset();
  }
  return status;
}

}  // namespace forebay::tcio
