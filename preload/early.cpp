// Drivers for libraries that the program is linked with are loaded before main: half a millisecond that a
// program's first file would wait for. Whatever cannot be loaded now is tried, and told, at its first use.
#include <dlfcn.h>

#include "driver.hpp"
#include "process.hpp"

namespace forebay::preload {
namespace {

void load_early(const char* function, const char* file, const char* prefix, const char* inside) {
  void* const address = dlsym(RTLD_NEXT, function);
  if (address == nullptr) return;
  const Definition stock = definition_at(address);
  if (!stock.handle() || (inside != nullptr && dlsym(stock.handle(), inside) != nullptr)) return;
  Reason reason;
  if (enabled(reason)) (void)load_driver(file, prefix, stock, reason);
}

// Two lookups, in a program that has neither.
[[gnu::constructor]] void load_drivers() {
  load_early("ncmpio_inq_driver", "libforebay_pnetcdf.so", "libpnetcdf", "forebay_pnetcdf_inside");
  load_early("H5Pset_fapl_mpio", "libforebay_hdf5.so", "libhdf5", nullptr);
}

}  // namespace
}  // namespace forebay::preload
