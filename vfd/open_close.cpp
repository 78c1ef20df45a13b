// A file's life: open, flush, truncate, close, delete; in the order of collective calls that the stock driver
// has.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/speaker.hpp"
#include "config.hpp"
#include "driver.hpp"
#include "engine/opening.hpp"
#include "errors.hpp"
#include "handle.hpp"
#include "mpi/communicator.hpp"
#include "mpi/file.hpp"
#include "mpi/handles.hpp"
#include "mpi/resolve_settings.hpp"
#include "stock.hpp"

namespace forebay::hdf5 {
namespace {

int access_mode(unsigned flags) {
  int mode = (flags & H5F_ACC_RDWR) != 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  if ((flags & H5F_ACC_CREAT) != 0) mode |= MPI_MODE_CREATE;
  if ((flags & H5F_ACC_EXCL) != 0) mode |= MPI_MODE_EXCL;
  return mode;
}

/// The program's hints with those written over them that MPI-IO says are in use, where it has the file. Never
/// null: HDF5 takes that for a failure.
mpi::Info hints_in_use(MPI_File file, MPI_Info from_program) {
  mpi::Info merged;
  if (from_program != MPI_INFO_NULL) {
    MPI_Info_dup(from_program, merged.address());
  } else {
    MPI_Info_create(merged.address());
  }
  mpi::Info used;
  if (file == MPI_FILE_NULL) return merged;
  if (MPI_File_get_info(file, used.address()) != MPI_SUCCESS || !used) return merged;
  int keys = 0;
  MPI_Info_get_nkeys(used.get(), &keys);
  for (int i = 0; i < keys; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    MPI_Info_get_nthkey(used.get(), i, key.data());
    MPI_Info_get(used.get(), key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
    if (found != 0) MPI_Info_set(merged.get(), key.data(), value.data());
  }
  return merged;
}

/// Whether HDF5 expects MPI_File_sync after collective writes, by the rule of its own driver (UnifyFS).
bool needs_sync(MPI_Info used) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  MPI_Info_get(used, "romio_visibility_immediate", MPI_MAX_INFO_VAL, value.data(), &found);
  bool needed = found != 0 && std::strcmp(value.data(), "false") == 0;
  if (const char* text = std::getenv("HDF5_DO_MPI_FILE_SYNC")) {
    if (std::strcmp(text, "TRUE") == 0 || std::strcmp(text, "1") == 0) needed = true;
    if (std::strcmp(text, "FALSE") == 0 || std::strcmp(text, "0") == 0) needed = false;
  }
  return needed;
}

/// Communicator and hints for a file, as its access list has them.
struct MpiParams {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  bool set_by_program = false;
  mpi::Comm own_comm;  ///< where it is not the list's
  mpi::Info own_info;
};

/// Before the ranks have agreed on it.
int patience_of(const H5FD_forebay_config_t& config) {
  Settings settings;
  (void)resolve_settings(MPI_INFO_NULL, config.hints, false, "", settings);
  return settings.patience_seconds;
}

constexpr const char* kOpenedByAll =
    "HDF5_DRIVER=forebay makes all ranks of MPI_COMM_WORLD open each file together for which no driver is "
    "set. For a file "
    "of one rank set HDF5's serial driver (H5Pset_fapl_sec2, in h5py driver='sec2'); or unset HDF5_DRIVER, "
    "and use forebay "
    "run";
constexpr int kWorldPatience =
    5;  // seconds: whoever waits there probably waits for ranks that will never come

/// Without a communicator set, by HDF5_DRIVER alone, all ranks open the file.
Status mpi_params(hid_t fapl, const char* call, const char* name, int patience, MpiParams& out) {
  const ApiContext* api = nullptr;
  if (Status status = api_context(api); !status.ok()) return status;
  const void* list = api->object_of != nullptr && api->peek != nullptr ? api->object_of(fapl) : nullptr;
  if (list == nullptr || api->peek(list, "mpi_params_comm", &out.comm) < 0 ||
      api->peek(list, "mpi_params_info", &out.info) < 0) {
    if (Status status = get_mpi_params(fapl, out.own_comm.address(), out.own_info.address()); !status.ok())
      return status;
    out.comm = out.own_comm.get();
    out.info = out.own_info.get();
  }
  if (!mpi::works_with(out.comm))
    return {Code::bad_argument, "MPI is not running: a file with this driver needs MPI_Init before"};
  out.set_by_program = out.comm != MPI_COMM_NULL;
  if (out.set_by_program) return {};
  const mpi::Communicator world(MPI_COMM_WORLD);
  const CollectiveCall waiting({call, name, &world, false, std::min(patience, kWorldPatience), kOpenedByAll});
  mpi::duplicate(MPI_COMM_WORLD, out.own_comm.address());
  out.comm = out.own_comm.get();
  return {};
}

/// Lets the program read the hints in use from its access list, as the stock driver does. By the property's
/// name, since H5Pset_mpi_params would duplicate the communicator once more.
void show_hints(hid_t fapl, MPI_Info used) {
  constexpr const char* property = "mpi_params_info";
  if (H5Pexist(fapl, property) > 0) H5Pset(fapl, property, &used);
}

/// Has HDF5 write its metadata together, as one request: HDF5 reads this from the access list after the
/// driver has opened the file. All ranks decide alike.
void choose_metadata_writes(const DriverFile& f, hid_t fapl) {
  if (f.core->settings().metadata == Metadata::collective && f.ranks > 1)
    H5Pset_coll_metadata_write(fapl, true);
}

/// Settings of the file, agreed on: a rank whose hints are wrong, or whose config could not be read
/// (`status`), must not leave the others waiting in the open, and all say what is wrong.
Status agreed_settings(const DriverFile& f, const MpiParams& params, const char* name, Status status,
                       Settings& settings) {
  if (status.ok())
    status = resolve_settings(params.info, f.config.hints, f.rank == 0, f.rank == 0 ? name : "", settings);
  std::int64_t enabled = settings.enabled ? 1 : 0;
  const mpi::Communicator ranks(params.comm);
  status = agree_to_open(
      {ranks, "open", name, settings.patience_seconds, params.set_by_program ? "" : kOpenedByAll},
      std::move(status), settings, {&enabled, 1});
  settings.enabled = enabled != 0;
  return status;
}

/// Rank 0's size of the file, on all ranks. Right after open HDF5 takes it for the truth.
// What other nodes keep belongs to it.
Status agreed_size(DriverFile& f, std::int64_t& bytes) {
  Status status;
  bytes = -1;
  if (f.rank == 0) status = f.core->size(bytes);
  if (!status.ok()) bytes = -1;
  mpi::bcast(&bytes, 1, MPI_INT64_T, 0, f.comm);
  if (bytes < 0 && status.ok()) return {Code::peer, "rank 0 cannot find the size of " + f.core->path()};
  if (status.ok() && f.core->nodes() > 1 && f.core->commits())
    bytes = std::max(bytes, -f.core->comm().minimum(-f.core->end_of_kept()));
  return status;
}

Status open_as_stock(DriverFile& f, const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr,
                     MPI_Comm comm, MPI_Info info, const Settings& settings, const std::string& reason) {
  if (f.rank == 0) warn_once("HDF5 runs on its stock driver: " + reason);
  if (Status status = open_stock(name, flags, fapl, maxaddr, comm, info, f.stock); !status.ok())
    return status;
  void* handle = nullptr;
  if (f.stock->cls->get_handle(f.stock, fapl, &handle) < 0 || handle == nullptr) {
    H5FDclose(f.stock);
    return {Code::internal, "the stock MPI-IO driver gives no file handle"};
  }
  f.handle = *static_cast<MPI_File*>(handle);
  f.stock_report = StockReport::begin(mpi::Communicator(comm), true, settings, name, "hdf5", reason);
  return {};
}

Status open_into(DriverFile& f, const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
  if (Status status = api_context(f.context); !status.ok()) return status;
  if (Status status = check_version(); !status.ok()) return status;
  Status config = config_of(fapl, f.config);
  MpiParams params;
  if (Status status = mpi_params(fapl, "open", name, patience_of(f.config), params); !status.ok())
    return status;
  f.rank = mpi::rank(params.comm);
  f.ranks = mpi::size(params.comm);

  FileOptions options;
  options.path = name;
  options.driver = "hdf5";
  options.needs_handle = !handle_can_wait();
  options.settings_shared = true;
  options.keeping = Keeping::by_node;
  options.tells_freed_space = f.context->get_ring != nullptr;
  if (Status status = agreed_settings(f, params, name, std::move(config), options.settings); !status.ok())
    return status;
  if (!options.settings.enabled) {
    return open_as_stock(f, name, flags, fapl, maxaddr, params.comm, params.info, options.settings,
                         "forebay_enable is off");
  }

  Status status = mpi::open(params.comm, access_mode(flags), params.info, options, f.core);
  if (status.code() == Code::no_shared_memory || status.code() == Code::unsupported) {
    // Forebay may have created the file before it refused.
    return open_as_stock(f, name, flags & ~static_cast<unsigned>(H5F_ACC_EXCL), fapl, maxaddr, params.comm,
                         params.info, options.settings, status.message());
  }
  if (!status.ok()) return status;
  if (verbose() && speaks_for(f.rank, f.ranks)) {
    warn_once(std::string("HDF5 runs on Forebay's driver, ") + f.core->mode_in_words());
  }

  f.handle = mpi::file_of(*f.core);
  f.comm = mpi::comm_of(f.core->comm());
  mpi::Info used = hints_in_use(f.handle, params.info);
  f.sync_required = needs_sync(used.get());
  std::int64_t size = 0;
  status = agreed_size(f, size);
  if (status.ok() && size > 0 && (flags & H5F_ACC_TRUNC) != 0) {
    size = 0;
    // Nobody returns before it is so, or the first writes would be cut off.
    status = f.core->set_size(0);
  }
  if (status.ok() && params.set_by_program) show_hints(fapl, used.get());
  if (status.ok() && params.set_by_program)
    choose_metadata_writes(f, fapl);  // the default list stays as it is
  if (!status.ok()) {
    (void)f.core->close();
    f.core.reset();
    return status;
  }
  f.watches_space = f.core->hides() && f.core->nodes() > 1;
  f.writable = (flags & H5F_ACC_RDWR) != 0;
  f.info = used.release();
  f.eof = static_cast<haddr_t>(size);
  return {};
}

}  // namespace

H5FD_t* open_file(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
  std::unique_ptr<DriverFile> file;
  const herr_t result = guarded("open", [&]() -> Status {
    if (name == nullptr || *name == '\0') return {Code::bad_argument, "no file name"};
    file = std::make_unique<DriverFile>();
    return open_into(*file, name, flags, fapl, maxaddr);
  });
  return result < 0 ? nullptr : &file.release()->pub;
}

herr_t close_file(H5FD_t* file) {
  return guarded("close", [&]() -> Status {
    std::unique_ptr<DriverFile> f(&driver_file(file));
    if (f->stock != nullptr) {
      const bool closed = H5FDclose(f->stock) >= 0;
      if (f->stock_report && mpi::alive()) f->stock_report->end(0, 0);
      if (!closed) return {Code::io, "the stock MPI-IO driver cannot close the file"};
      return {};
    }
    if (!mpi::alive()) {
      // HDF5 was set up before MPI and shuts down after it. What was written is in the file; its handles are
      // gone with MPI.
      (void)f->core.release();
      return {};
    }
    f->core->defer(f->unwritten.write(*f->core));
    Status status = f->core->close();
    status.update(close_handles(*f));
    if (f->info != MPI_INFO_NULL) MPI_Info_free(&f->info);
    return status;
  });
}

herr_t flush_file(H5FD_t* file, hid_t dxpl, hbool_t closing) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) return f.stock->cls->flush(f.stock, dxpl, closing);
  return guarded("flush", [&]() -> Status {
    if (closing) return {};
    f.core->tell_once(f.unwritten.write(*f.core));
    return f.core->sync();
  });
}

herr_t truncate_file(H5FD_t* file, hid_t dxpl, hbool_t closing) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) return f.stock->cls->truncate(f.stock, dxpl, closing);
  return guarded("truncate", [&]() -> Status {
    if (f.eoa == f.last_eoa) return {};
    const CollectiveCall call(f.core->about(closing ? "close" : "flush"));
    if (f.eoa > static_cast<haddr_t>(INT64_MAX))
      return {Code::bad_argument, "the file is larger than MPI can address"};
    if (Status status = f.core->flush_for(FlushFor::size); !status.ok()) return status;
    // All must have written before rank 0 looks at the size; between HDF5's own barriers that is so already.
    if (!f.core->commits() && !f.context->get_mpi_file_flushing()) mpi::barrier(f.comm);
    std::int64_t size = 0;
    if (Status status = agreed_size(f, size); !status.ok()) return status;
    // What lies behind the new end must not come after it.
    if (static_cast<haddr_t>(size) > f.eoa) {
      if (Status status = f.core->flush(); !status.ok()) return status;
    }
    if (static_cast<haddr_t>(size) != f.eoa) {
      if (Status status = f.core->set_size(static_cast<std::int64_t>(f.eoa)); !status.ok()) return status;
    }
    f.last_eoa = f.eoa;
    return {};
  });
}

herr_t delete_file(const char* name, hid_t fapl) {
  return guarded("delete", [&]() -> Status {
    H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
    (void)config_of(fapl, config);
    const int patience = patience_of(config);
    MpiParams params;
    if (Status status = mpi_params(fapl, "deletion", name, patience, params); !status.ok()) return status;
    const mpi::Communicator ranks(params.comm);
    const CollectiveCall call({"deletion", name, &ranks, false, patience});
    mpi::barrier(params.comm);
    Status status;
    if (mpi::rank(params.comm) == 0) {
      const int error = MPI_File_delete(name, params.info);
      if (error != MPI_SUCCESS) status = mpi::from_mpi(error, std::string("cannot delete ") + name);
    }
    mpi::barrier(params.comm);  // nobody may create the next file of this name before the old one is gone
    return status;
  });
}

}  // namespace forebay::hdf5
