// The driver's class: the table of callbacks and the small ones among them.
#include <cstddef>

#include "config.hpp"
#include "driver.hpp"
#include "errors.hpp"
#include "handle.hpp"

namespace forebay::hdf5 {
namespace {

static_assert(offsetof(DriverFile, pub) == 0);
static_assert(offsetof(DriverFile, handle) == sizeof(H5FD_t),
              "H5Fset_mpi_atomicity looks for the MPI_File here");

// HDF5's operation codes (H5FDpublic.h has them for drivers that route, as numbers they are the same in 1.14
// and 2.x).
constexpr uint64_t kGetComm = H5FD_CTL_GET_MPI_COMMUNICATOR_OPCODE;
constexpr uint64_t kGetRank = H5FD_CTL_GET_MPI_RANK_OPCODE;
constexpr uint64_t kGetSize = H5FD_CTL_GET_MPI_SIZE_OPCODE;
constexpr uint64_t kGetInfo = H5FD_CTL_GET_MPI_INFO_OPCODE;
#ifdef H5FD_CTL_GET_MPI_FILE_SYNC_OPCODE
constexpr uint64_t kGetSync = H5FD_CTL_GET_MPI_FILE_SYNC_OPCODE;
#else
constexpr uint64_t kGetSync = 9;
#endif

void* get_config(H5FD_t* file) {
  return copy_config(&driver_file(file).config);
}

/// As the stock driver's, so that HDF5 lays the file out in the same way. `file` is NULL when HDF5 asks
/// before any is open.
herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_HAS_MPI |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  }
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t type) {
  const DriverFile& f = driver_file(file);
  if (f.stock != nullptr) return f.stock->cls->get_eoa(f.stock, type);
  // A failure is kept for the next flush or close.
  if (f.watches_space && f.freed.asked(type, f.context->get_ring(), __builtin_return_address(0))) {
    (void)contained([&] {
      f.core->space_freed();
      return Status{};
    });
  }
  return f.eoa;
}

herr_t set_eoa(H5FD_t* file, H5FD_mem_t type, haddr_t addr) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) return f.stock->cls->set_eoa(f.stock, type, addr);
  if (f.watches_space && addr != f.eoa) f.core->space_taken();
  f.eoa = addr;
  return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t type) {
  const DriverFile& f = driver_file(file);
  return f.stock != nullptr ? f.stock->cls->get_eof(f.stock, type) : f.eof;
}

herr_t get_handle(H5FD_t* file, hid_t, void** handle) {
  return guarded("get_handle", [&]() -> Status {
    if (handle == nullptr) return {Code::bad_argument, "no place to put the file handle"};
    DriverFile& f = driver_file(file);
    *handle = &f.handle;
    const HandleWanted wanted = WantingHandle::answer();
    if (!f.core || wanted == HandleWanted::as_it_is) return {};
    const bool together = wanted == HandleWanted::for_atomicity;
    if (Status status = need_handle(f, together); !status.ok()) return status;
    // From now on any rank may read what another node keeps.
    if (together) return f.core->flush();
    // Whoever asks goes past what is kept.
    f.core->handle_given_away();
    return f.core->flush_independent();
  });
}

template <class T>
Status answer(void** output, T value) {
  if (output == nullptr || *output == nullptr) return {Code::bad_argument, "no place to put the answer"};
  *static_cast<T*>(*output) = value;
  return {};
}

herr_t control(H5FD_t* file, uint64_t operation, uint64_t flags, const void* input, void** output) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) return f.stock->cls->ctl(f.stock, operation, flags, input, output);
  f.asked_last = operation;
  return guarded("ctl", [&]() -> Status {
    switch (operation) {
      case kGetComm:
        return answer<MPI_Comm>(output, f.comm);
      case kGetInfo:
        return answer<MPI_Info>(output, f.info);
      case kGetRank:
        return answer<int>(output, f.rank);
      case kGetSize:
        return answer<int>(output, f.ranks);
      case kGetSync:
        return answer<hbool_t>(output, f.sync_required);
      default:
        break;
    }
    if ((flags & H5FD_CTL_FAIL_IF_UNKNOWN_FLAG) == 0) return {};
    return {Code::unsupported, "unknown operation " + std::to_string(operation)};
  });
}

}  // namespace

bool DriverFile::atomic() const {
  int flag = 0;
  return handle != MPI_FILE_NULL && MPI_File_get_atomicity(handle, &flag) == MPI_SUCCESS && flag != 0;
}

const H5FD_class_t& driver_class() {
  static const H5FD_class_t table = [] {
    H5FD_class_t c{};
    c.version = H5FD_CLASS_VERSION;
    c.value = H5FD_FOREBAY_VALUE;
    c.name = H5FD_FOREBAY_NAME;
    c.maxaddr = HADDR_MAX;
    c.fc_degree = H5F_CLOSE_SEMI;
    c.terminate = terminate;
    // No sb_*: a superblock that named this driver could not be opened without it.
    c.fapl_size = sizeof(H5FD_forebay_config_t);
    c.fapl_get = get_config;
    c.fapl_copy = copy_config;
    c.fapl_free = free_config;
    c.open = open_file;
    c.close = close_file;
    // No cmp: two handles are one file only if they are the same object, as in the stock driver.
    c.query = query;
    c.get_eoa = get_eoa;
    c.set_eoa = set_eoa;
    c.get_eof = get_eof;
    c.get_handle = get_handle;
    c.read = read_bytes;
    c.write = write_bytes;
    c.read_vector = read_vector;
    c.write_vector = write_vector;
    c.read_selection = read_selection;
    c.write_selection = write_selection;
    c.flush = flush_file;
    c.truncate = truncate_file;
    c.del = delete_file;
    c.ctl = control;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    static_assert(sizeof map == sizeof c.fl_map);
    for (int i = 0; i < H5FD_MEM_NTYPES; ++i) c.fl_map[i] = map[i];
    return c;
  }();
  return table;
}

}  // namespace forebay::hdf5
