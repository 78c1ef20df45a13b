// create, open, close and abort: whether this driver serves a file is agreed by all its ranks, and said when
// it does not.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <strings.h>

#include "attach.hpp"
#include "base/speaker.hpp"
#include "drain.hpp"
#include "engine/opening.hpp"
#include "errors.hpp"
#include "file_slots.hpp"
#include "mpi/communicator.hpp"
#include "mpi/file.hpp"
#include "mpi/resolve_settings.hpp"
#include "open_file.hpp"
#include "stock_bytes.hpp"

namespace forebay::pnc {
namespace {

constexpr const char* stock_is_used = ": PnetCDF's own driver is used";

std::string info_value(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  if (info != MPI_INFO_NULL) MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found != 0 ? value.data() : "";
}

bool is_enabled(MPI_Info info, const char* key) {
  return strcasecmp(info_value(info, key).c_str(), "enable") == 0;
}

InPlaceSwap in_place_swap(MPI_Info info) {
  const std::string value = info_value(info, "nc_in_place_swap");
  if (strcasecmp(value.c_str(), "enable") == 0) return InPlaceSwap::enabled;
  if (strcasecmp(value.c_str(), "disable") == 0) return InPlaceSwap::disabled;
  return InPlaceSwap::automatic;
}

// A failure of which the program hears from PnetCDF.
constexpr Code kNotOpened = Code::bad_argument;

// What the ranks of a file decided before it is touched.
struct Plan {
  Settings settings;
  bool use = false;
  std::string reason;  ///< why not, on rank 0
};

// Collective. NC_EINVAL on every rank when the hints of any rank are wrong, NC_EFILE when a rank has too few
// descriptors left, NC_EMULTIDEFINE when they name different files.
int make_plan(MPI_Comm comm, const char* call, const char* path, MPI_Info info, bool shared, Plan& plan) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  Status hints =
      resolve_settings(info, "", rank == 0, rank == 0 && path != nullptr ? path : "", plan.settings);
  if (shared) {
    plan.settings.mode = Mode::strict;
    plan.settings.log.clear();
  }
  const char* reason = nullptr;
  if (!plan.settings.enabled) reason = "disabled by the hint forebay_enable";
  if (is_enabled(info, "pnetcdf_subfiling")) reason = "the hint pnetcdf_subfiling is set";
  if (is_enabled(info, "nc_burst_buf")) reason = "the hint nc_burst_buf is set";

  enum : std::size_t { wanted, bad_rank, fields };
  std::array<std::int64_t, fields> agreed{reason == nullptr ? 1 : 0, hints.ok() ? ranks : rank};
  const mpi::Communicator own(comm);
  const Opening opening{own, call, path, plan.settings.patience_seconds};
  if (Status status = agree_to_open(opening, std::move(hints), plan.settings, agreed); !status.ok()) {
    const bool names = status.code() == Code::bad_argument && agreed[bad_rank] == ranks;
    // One rank's word is enough.
    if (names ? rank == 0 : agreed[bad_rank] == ranks ? !status.is_heard() : agreed[bad_rank] == rank)
      warn_once(status.message());
    return names ? NC_EMULTIDEFINE : to_nc_error(status, NC_EFILE);
  }
  plan.use = agreed[wanted] == 1;
  if (!plan.use) plan.reason = reason != nullptr ? reason : "disabled on another rank";
  if (!plan.use && rank == 0) warn_once(plan.reason + stock_is_used);
  return NC_NOERR;
}

// Collective. Opens the file that PnetCDF has opened since `before` once more, for the core, unless a rank
// has none. A refusal leaves the file to PnetCDF's own driver.
void attach_core(OpenFile& file, bool opened, const BeforeOpen& before, MPI_Comm comm, const char* path,
                 MPI_Info info, Plan& plan) {
  FileOptions options;
  options.path = path;
  options.settings = plan.settings;
  options.driver = "pnetcdf";
  options.keeping = Keeping::by_rank;
  options.tells_freed_space = true;  // it drains before a definition moves anything
  options.announces_independent = true;
  options.when_opened_again = [&file](CoreFile& core) {
    if (file.in_define || !file.active()) return;
    Status status = core.flush_independent();
    if (status.ok() &&
        (file.records.catch_up_independent(file) != NC_NOERR || file.records.write_ahead(file) != NC_NOERR))
      status = {Code::io, "cannot write the number of records of " + core.path()};
    if (!status.ok()) core.defer(std::move(status));
  };
  options.opened = &before;
  options.settings_shared = true;
  if (!opened) options.elsewhere = {kNotOpened, std::string("PnetCDF has not opened ") + path};
  const Status status =
      mpi::open(comm, file.writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY, info, options, file.core);
  if (!status.ok()) {
    file.core.reset();
    plan.reason = status.message();
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && status.code() != kNotOpened) warn_once(status.message() + stock_is_used);
  } else if (verbose() && speaks_for(file.core->rank(), file.core->ranks())) {
    warn_once(std::string("PnetCDF runs on Forebay's driver, ") + file.core->mode_in_words());
  }
}

// Collective, also where a rank has no file.
void begin_stock_report(OpenFile& file, bool opened, MPI_Comm comm, const char* path, const Plan& plan) {
  if (file.active()) return;
  file.stock_report =
      StockReport::begin(mpi::Communicator(comm), opened, plan.settings, path, "pnetcdf", plan.reason);
}

// The format that PnetCDF gives a new file: by mode, else by its process-wide default.
int format_of_new(int cmode) {
  if ((cmode & NC_64BIT_DATA) != 0) return 5;
  if ((cmode & NC_64BIT_OFFSET) != 0) return 2;
  int format = NC_FORMAT_CLASSIC;
  if (const auto inquire = reinterpret_cast<int (*)(int*)>(library_symbol("ncmpi_inq_default_format")))
    inquire(&format);
  return format == NC_FORMAT_CDF5 ? 5 : format == NC_FORMAT_CDF2 ? 2 : 1;
}

// Collective. The format of an existing file: the byte behind "CDF".
int read_format(OpenFile& file) {
  std::array<char, 4> magic{};
  if (file.core->rank() == 0) {
    if (report(file.core->read_at(0, magic.data(), magic.size()), "cannot read the header") != NC_NOERR)
      magic = {};
  }
  if (MPI_Bcast(magic.data(), static_cast<int>(magic.size()), MPI_CHAR, 0, mpi::comm_of(file.core->comm())) !=
      MPI_SUCCESS)
    return NC_EMPI;
  if (magic[0] != 'C') return NC_EREAD;
  file.cdf_format = magic[3] == 5 ? 5 : magic[3] == 2 ? 2 : 1;
  return NC_NOERR;
}

bool heeds_share(int how) {
  if ((how & NC_SHARE) == 0) return false;
  const auto libvers = reinterpret_cast<const char* (*)()>(library_symbol("ncmpi_inq_libvers"));
  return libvers != nullptr && std::string(libvers()).rfind("1.12.", 0) == 0;
}

int forget_pending(OpenFile& file) {
  const std::size_t pending = file.puts.size() + file.gets.size();
  if (pending == 0) return NC_NOERR;
  warn_once(std::to_string(pending) + " nonblocking requests were never waited for and are cancelled as " +
            file.core->path() + " is closed");
  file.puts.clear();
  file.gets.clear();
  return NC_EPENDING;
}

int finish(OpenFile* object, int (*DriverTable::*how)(void*), bool pending_counts) {
  const std::unique_ptr<OpenFile> file(object);
  int err = NC_NOERR;
  if (file->active()) file->core->barrier("close");
  // PnetCDF's own driver would write the count it knows once more when it closes a file in independent mode.
  if (file->active() && file->independent && !file->in_define) err = leave_independent_mode(*file);
  if (file->active() && file->in_define && pending_counts) {
    if (const int ended = end_large_definition(*file); err == NC_NOERR) err = ended;
  }
  if (const int drained = drain_in_any_mode(*file, FlushFor::close); err == NC_NOERR) err = drained;
  const int pending = file->active() ? forget_pending(*file) : NC_NOERR;
  StockBytes moved;
  if (file->stock_report) moved = stock_bytes(*file);
  if (const int closed = (file->stock.*how)(file->stock_file); err == NC_NOERR) err = closed;
  if (file->stock_report) file->stock_report->end(moved.put, moved.got);
  if (pending_counts && err == NC_NOERR) err = pending;
  if (file->active()) {
    std::int64_t least = err;  // the codes are negative
    const int closed = report(file->core->close(&least), "cannot close the file");
    if (pending_counts && close_agrees()) err = static_cast<int>(least);
    if (err == NC_NOERR) err = closed;
  }
  return err;
}

}  // namespace

int create_over(const StockOpen& stock, MPI_Comm comm, const char* path, int cmode, MPI_Info info,
                void** object) {
  return guarded([&]() -> int {
    *object = nullptr;
    Plan plan;
    if (int err = make_plan(comm, "creation", path, info, (cmode & NC_SHARE) != 0, plan)) return err;
    void* stock_file = nullptr;
    std::optional<BeforeOpen> before;
    if (plan.use) before.emplace(path);
    const int err = stock(&stock_file);
    auto file = std::make_unique<OpenFile>(stock_table(), stock_file);
    if (plan.use) attach_core(*file, err == NC_NOERR, *before, comm, path, info, plan);
    begin_stock_report(*file, err == NC_NOERR, comm, path, plan);
    if (err != NC_NOERR) return err;
    file->in_define = true;
    file->cdf_format = format_of_new(cmode);
    if (file->active()) file->records.tell_at_exit(*file);
    file->share = heeds_share(cmode);
    file->in_place_swap = in_place_swap(info);
    *object = file.release();
    return NC_NOERR;
  });
}

int open_over(const StockOpen& stock, MPI_Comm comm, const char* path, int omode, MPI_Info info,
              void** object) {
  return guarded([&]() -> int {
    *object = nullptr;
    Plan plan;
    if (int err = make_plan(comm, "open", path, info, (omode & NC_SHARE) != 0, plan)) return err;
    void* stock_file = nullptr;
    std::optional<BeforeOpen> before;
    if (plan.use) before.emplace(path);
    const int err = stock(&stock_file);
    const bool opened = err == NC_NOERR || err == NC_ENULLPAD;  // the latter is a remark
    auto file = std::make_unique<OpenFile>(stock_table(), stock_file);
    file->writable = (omode & NC_WRITE) != 0;
    if (plan.use) attach_core(*file, opened, *before, comm, path, info, plan);
    begin_stock_report(*file, opened, comm, path, plan);
    if (!opened) return err;
    if (file->active()) {
      if (int format_err = read_format(*file)) {  // on all ranks
        (void)finish(file.release(), &DriverTable::close, false);
        return format_err;
      }
      file->records.tell_at_exit(*file);
      if (int inquire_err = file->variables.refresh()) return inquire_err;
    }
    file->share = heeds_share(omode);
    file->in_place_swap = in_place_swap(info);
    *object = file.release();
    return err;
  });
}

int create(MPI_Comm comm, const char* path, int cmode, int ncid, MPI_Info info, void** object) {
  return create_over([&](void** file) { return stock_table().create(comm, path, cmode, ncid, info, file); },
                     comm, path, cmode, info, object);
}

int open(MPI_Comm comm, const char* path, int omode, int ncid, MPI_Info info, void** object) {
  return open_over([&](void** file) { return stock_table().open(comm, path, omode, ncid, info, file); }, comm,
                   path, omode, info, object);
}

int close(void* object) {
  return guarded([&] { return finish(&OpenFile::of(object), &DriverTable::close, true); });
}

int abort(void* object) {
  return guarded([&] { return finish(&OpenFile::of(object), &DriverTable::abort, false); });
}

}  // namespace forebay::pnc
