// PnetCDF asks ncmpio_inq_driver for the functions that do its work; up to 1.14 the question can be answered
// here. Creating and opening are watched, so that a version which asks nobody is not taken for one that
// Forebay serves.
#include <pthread.h>
#include <stdint.h>

#include <dlfcn.h>

#include "driver.hpp"
#include "export.hpp"
#include "process.hpp"
#include "report.hpp"
#include "say.hpp"

namespace forebay::preload {
namespace {

using Inquire = const void* (*)();
using CreateOrOpen = int (*)(uintptr_t comm, const char* path, int mode, uintptr_t info, int* ncid);
using Attach = const void* (*)(const void* stock_table, void* library_handle);

constexpr int nc_write = 1;
constexpr int nc_netcdf4 = 0x1000;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
bool tried = false;
bool told = false;
Attach attach = nullptr;
/// The first PnetCDF and its answer: files are opened often, libraries attached once.
const void* library = nullptr;
const void* answer = nullptr;

// The call in progress on this thread.
__thread uintptr_t current_comm = 0;
__thread bool asked = false;
__thread bool left_to_stock = false;

/// Why PnetCDF runs on its own driver, once it does.
Reason stock_reason;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

void tell_stock(const Definition& stock, const char* reason) {
  left_to_stock = true;
  if (told) return;
  told = true;
  stock_reason.set("%s", reason);
  if (is_first(stock.handle(), current_comm)) say("PnetCDF runs on its stock driver: %s", reason);
}

const void* table_for(Definition& stock, const void* stock_table) {
  const Lock lock;
  Reason reason;
  const Object object = object_of(stock.address());
  if (library != nullptr && library == object.start) {
    left_to_stock = answer == stock_table;
    return answer;
  }
  if (!tried) {
    tried = true;
    void* driver =
        enabled(reason) ? load_driver("libforebay_pnetcdf.so", "libpnetcdf", stock, reason) : nullptr;
    if (driver != nullptr) {
      attach = reinterpret_cast<Attach>(dlsym(driver, "forebay_pnetcdf_attach"));
      if (attach == nullptr) reason.set("%s", dlerror());
    }
  }
  if (attach == nullptr) {
    tell_stock(stock, reason.text);
    return stock_table;
  }
  // Where a PnetCDF is refused, the driver says why.
  if (*stock_reason.text == '\0') stock_reason.set("Forebay's driver does not serve this PnetCDF library");
  if (library != nullptr) {  // one is served already
    left_to_stock = true;
    return attach(stock_table, stock.handle());
  }
  library = object.start;
  answer = attach(stock_table, stock.keep());
  left_to_stock = answer == stock_table;
  return answer;  // with its first file it says itself that PnetCDF runs on it
}

int create_or_open(const char* name, const void* caller, bool writes, uintptr_t comm, const char* path,
                   int mode, uintptr_t info, int* ncid) {
  const Definition stock = find_definition(name, caller);
  if (!stock) {
    say("cannot find %s of the PnetCDF library that calls it", name);
    return -1;
  }
  const uintptr_t outer = current_comm;
  current_comm = comm;
  asked = false;
  left_to_stock = false;
  const int status = reinterpret_cast<CreateOrOpen>(stock.address())(comm, path, mode, info, ncid);
  const bool unasked = status == 0 && writes && !asked && (mode & nc_netcdf4) == 0;
  if (unasked && dlsym(stock.handle(), "forebay_pnetcdf_inside") != nullptr) {
    // A drop-in, or a program linked with the driver: it asks itself, and says so itself.
    const Lock lock;
    told = true;
  } else if (unasked) {
    const Lock lock;
    Reason reason;
    if (enabled(reason)) {
      const auto version = reinterpret_cast<const char* (*)()>(dlsym(stock.handle(), "ncmpi_inq_libvers"));
      reason.set(
          "this version (%s) does not let its driver be replaced; `forebay dropin` makes a library that runs "
          "on Forebay's, once for all programs",
          version != nullptr ? version() : "unknown");
    }
    tell_stock(stock, reason.text);
  }
  current_comm = outer;
  // A drop-in's driver, which the shim stands before as well, tells itself what it leaves.
  if (status == 0 && left_to_stock && dlsym(stock.handle(), "forebay_pnetcdf_inside") == nullptr)
    report_stock(path, "pnetcdf", stock_reason.text, ranks_of(stock.handle(), comm));
  return status;
}

}  // namespace
}  // namespace forebay::preload

using namespace forebay::preload;

extern "C" {

FOREBAY_PRELOAD_EXPORT const void* ncmpio_inq_driver() {
  asked = true;
  Definition stock = find_definition("ncmpio_inq_driver", __builtin_return_address(0));
  if (!stock) {
    say("cannot find ncmpio_inq_driver of the PnetCDF library that calls it");
    return nullptr;
  }
  return table_for(stock, reinterpret_cast<Inquire>(stock.address())());
}

FOREBAY_PRELOAD_EXPORT int ncmpi_create(uintptr_t comm, const char* path, int mode, uintptr_t info,
                                        int* ncid) {
  return create_or_open("ncmpi_create", __builtin_return_address(0), true, comm, path, mode, info, ncid);
}

FOREBAY_PRELOAD_EXPORT int ncmpi_open(uintptr_t comm, const char* path, int mode, uintptr_t info, int* ncid) {
  return create_or_open("ncmpi_open", __builtin_return_address(0), (mode & nc_write) != 0, comm, path, mode,
                        info, ncid);
}

}  // extern "C"
