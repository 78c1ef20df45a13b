// HDF5's functions that lead a program to Forebay's driver, and those that must go on telling it what it
// expects.
//
// MPI handles are pointers in one MPI and integers in another; both pass through a machine word unharmed.
// hid_t is 64 bits.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#include "driver.hpp"
#include "export.hpp"
#include "process.hpp"
#include "report.hpp"
#include "say.hpp"

namespace forebay::preload {
namespace {

using SetFapl = int (*)(int64_t, uintptr_t, uintptr_t);
using GetFapl = int (*)(int64_t, uintptr_t*, uintptr_t*);
using GetDriver = int64_t (*)(int64_t);
using Create = int64_t (*)(const char*, unsigned, int64_t, int64_t);
using SetAtomicity = int (*)(int64_t, bool);
using GetAtomicity = int (*)(int64_t, bool*);
using Open = int64_t (*)(const char*, unsigned, int64_t);

/// The one HDF5 of the process that Forebay serves, once it does.
struct Attached {
  const void* library = nullptr;
  SetFapl set = nullptr;
  GetFapl get = nullptr;
  int64_t (*get_driver)(int64_t, int64_t) = nullptr;
  int (*before_atomicity)(int64_t) = nullptr;
  int (*is_not_atomic)(int64_t) = nullptr;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Attached attached;
bool tried = false;
bool told = false;
/// Why HDF5 runs on its own driver, once it does, and who selected MPI-IO last.
Reason stock_reason;
Ranks openers;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

template <class Function>
bool find(void* handle, const char* name, Function*& out, Reason& reason) {
  out = reinterpret_cast<Function*>(dlsym(handle, name));
  if (out == nullptr) reason.set("%s", dlerror());
  return out != nullptr;
}

bool attach(const Definition& stock_set, const void* caller, Reason& reason) {
  if (!enabled(reason)) return false;
  Object libraries[2];
  if (count_definitions("H5open", libraries) > 1) {
    reason.set("this program has two HDF5 libraries, %s and %s", display_name(libraries[0]),
               display_name(libraries[1]));
    return false;
  }
  void* driver = load_driver("libforebay_hdf5.so", "libhdf5", stock_set, reason);
  if (driver == nullptr) return false;
  int (*attach_to)(void*, void*) = nullptr;
  const char* (*refusal)() = nullptr;
  Attached entry;
  const Definition stock_get = find_definition("H5Pget_fapl_mpio", caller);
  if (find(driver, "forebay_hdf5_attach", attach_to, reason) &&
      find(driver, "forebay_hdf5_refusal", refusal, reason) &&
      find(driver, "forebay_hdf5_set_fapl_mpio", entry.set, reason) &&
      find(driver, "forebay_hdf5_get_fapl_mpio", entry.get, reason) &&
      find(driver, "forebay_hdf5_get_driver", entry.get_driver, reason) &&
      find(driver, "forebay_hdf5_before_atomicity", entry.before_atomicity, reason) &&
      find(driver, "forebay_hdf5_is_not_atomic", entry.is_not_atomic, reason)) {
    if (attach_to(stock_set.address(), stock_get.address()) == 0) {
      entry.library = object_of(stock_set.address()).start;
      attached = entry;
      return true;
    }
    reason.set("%s", refusal());
  }
  dlclose(driver);
  return false;
}

/// Null where the call is the stock driver's; the first such call says why. Only a program that selects
/// MPI-IO gets here with `caller`, so nobody else attaches a driver.
const Attached* driver_for(const Definition& stock_set, const void* caller, uintptr_t comm) {
  const Lock lock;
  const Object library = object_of(stock_set.address());
  openers = ranks_of(stock_set.handle(), comm);
  if (attached.library != nullptr && attached.library == library.start) return &attached;
  Reason reason;
  if (!tried) {
    tried = true;
    // With its first file it says itself that HDF5 runs on it.
    if (attach(stock_set, caller, reason)) return &attached;
  } else {
    reason.set("another HDF5 library of this program, %s, is served",
               display_name(object_of(attached.library)));
  }
  if (*stock_reason.text == '\0') stock_reason = reason;
  if (!told) {
    told = true;
    if (is_first(stock_set.handle(), comm)) say("HDF5 runs on its stock driver: %s", reason.text);
  }
  return nullptr;
}

const Attached* driver_if_attached(const Definition& stock) {
  const Lock lock;
  return attached.library != nullptr && attached.library == object_of(stock.address()).start ? &attached
                                                                                             : nullptr;
}

/// A program that writes with an HDF5 without MPI has nothing that Forebay could serve; says so once.
bool is_serial(const Object& library) {
  if (library.start == nullptr || *library.path == '\0') return false;
  void* handle = dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  const bool serial = dlsym(handle, "H5Pset_fapl_mpio") == nullptr;
  dlclose(handle);
  return serial;
}

/// HDF5's own MPI-IO driver, whose number is a function in some releases and a variable in others.
int64_t mpio_of(void* handle) {
  if (void* init = dlsym(handle, "H5FD_mpio_init")) return reinterpret_cast<int64_t (*)()>(init)();
  const void* id = dlsym(handle, "H5FD_MPIO_id_g");
  return id != nullptr ? *static_cast<const int64_t*>(id) : -1;
}

/// A file was made or opened: told, and put into the report, where that was by HDF5's own driver though
/// Forebay's might have done it.
void note_file(const Definition& stock, const char* name, int64_t fapl, bool made) {
  const Object library = object_of(stock.address());
  static const void* serial = nullptr;
  static const void* parallel = nullptr;
  {
    const Lock lock;
    if (library.start != serial && library.start != parallel) {
      if (is_serial(library)) {
        serial = library.start;
        if (made && is_first(nullptr, 0))
          say("HDF5 runs on its stock driver: %s is built without MPI", library.path);
      } else {
        parallel = library.start;
      }
    }
  }
  if (library.start == serial) {
    // Each rank may have a file of its own: those of the first stand for all.
    Reason reason;
    reason.set("%s is built without MPI; of such files those of the first rank alone are here", library.path);
    if (made) report_stock(name, "hdf5", reason.text, {first_by_launcher(), 1});
    return;
  }
  if (!report_wanted()) return;
  if (*stock_reason.text == '\0' && attached.library == nullptr) return;  // MPI-IO was never selected
  const auto get_driver = stock.handle() != nullptr
                              ? reinterpret_cast<GetDriver>(dlsym(stock.handle(), "H5Pget_driver"))
                              : nullptr;
  const Definition next =
      get_driver == nullptr ? find_definition("H5Pget_driver", stock.address()) : Definition{};
  const auto ask = get_driver != nullptr ? get_driver : reinterpret_cast<GetDriver>(next.address());
  if (fapl == 0 || ask == nullptr || stock.handle() == nullptr || ask(fapl) != mpio_of(stock.handle()))
    return;
  report_stock(name, "hdf5", *stock_reason.text != '\0' ? stock_reason.text : "forebay_enable is off",
               openers);
}

void tell_missing(const char* name) {
  say("cannot find %s of the HDF5 library that calls it", name);
}

}  // namespace
}  // namespace forebay::preload

using namespace forebay::preload;

extern "C" {

FOREBAY_PRELOAD_EXPORT int H5Pset_fapl_mpio(int64_t fapl, uintptr_t comm, uintptr_t info) {
  const void* caller = __builtin_return_address(0);
  const Definition stock = find_definition("H5Pset_fapl_mpio", caller);
  if (!stock) {
    tell_missing("H5Pset_fapl_mpio");
    return -1;
  }
  const Attached* driver = driver_for(stock, caller, comm);
  return (driver != nullptr ? driver->set : reinterpret_cast<SetFapl>(stock.address()))(fapl, comm, info);
}

FOREBAY_PRELOAD_EXPORT int H5Pget_fapl_mpio(int64_t fapl, uintptr_t* comm, uintptr_t* info) {
  const Definition stock = find_definition("H5Pget_fapl_mpio", __builtin_return_address(0));
  if (!stock) {
    tell_missing("H5Pget_fapl_mpio");
    return -1;
  }
  const Attached* driver = driver_if_attached(stock);
  return (driver != nullptr ? driver->get : reinterpret_cast<GetFapl>(stock.address()))(fapl, comm, info);
}

FOREBAY_PRELOAD_EXPORT int64_t H5Pget_driver(int64_t fapl) {
  const Definition stock = find_definition("H5Pget_driver", __builtin_return_address(0));
  if (!stock) {
    tell_missing("H5Pget_driver");
    return -1;
  }
  const int64_t answer = reinterpret_cast<GetDriver>(stock.address())(fapl);
  const Attached* driver = driver_if_attached(stock);
  return driver != nullptr ? driver->get_driver(fapl, answer) : answer;
}

// HDF5 takes the MPI_File from the driver's struct, where a file that was opened by its name has none yet.
FOREBAY_PRELOAD_EXPORT int H5Fset_mpi_atomicity(int64_t file, bool flag) {
  const Definition stock = find_definition("H5Fset_mpi_atomicity", __builtin_return_address(0));
  if (!stock) {
    tell_missing("H5Fset_mpi_atomicity");
    return -1;
  }
  const Attached* driver = driver_if_attached(stock);
  if (driver != nullptr && driver->before_atomicity(file) < 0) return -1;
  return reinterpret_cast<SetAtomicity>(stock.address())(file, flag);
}

FOREBAY_PRELOAD_EXPORT int H5Fget_mpi_atomicity(int64_t file, bool* flag) {
  const Definition stock = find_definition("H5Fget_mpi_atomicity", __builtin_return_address(0));
  if (!stock) {
    tell_missing("H5Fget_mpi_atomicity");
    return -1;
  }
  const Attached* driver = driver_if_attached(stock);
  if (flag != nullptr && driver != nullptr && driver->is_not_atomic(file) != 0) {
    *flag = false;
    return 0;
  }
  return reinterpret_cast<GetAtomicity>(stock.address())(file, flag);
}

FOREBAY_PRELOAD_EXPORT int64_t H5Fcreate(const char* name, unsigned flags, int64_t fcpl, int64_t fapl) {
  const Definition stock = find_definition("H5Fcreate", __builtin_return_address(0));
  if (!stock) {
    tell_missing("H5Fcreate");
    return -1;
  }
  const int64_t file = reinterpret_cast<Create>(stock.address())(name, flags, fcpl, fapl);
  if (file >= 0) note_file(stock, name, fapl, true);
  return file;
}

FOREBAY_PRELOAD_EXPORT int64_t H5Fopen(const char* name, unsigned flags, int64_t fapl) {
  const Definition stock = find_definition("H5Fopen", __builtin_return_address(0));
  if (!stock) {
    tell_missing("H5Fopen");
    return -1;
  }
  const int64_t file = reinterpret_cast<Open>(stock.address())(name, flags, fapl);
  if (file >= 0) note_file(stock, name, fapl, false);
  return file;
}

}  // extern "C"
