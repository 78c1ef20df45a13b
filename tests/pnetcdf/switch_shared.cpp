// Which driver PnetCDF gets, for its shared library: the test program itself answers PnetCDF's question for
// one.
#include <dlfcn.h>
#include <pnetcdf.h>

#include <cstdlib>

#include "attach_shared.hpp"
#include "harness.hpp"

namespace {

bool forebay_is_used = false;

}  // namespace

// PnetCDF finds this one first, since it is in the executable.
extern "C" __attribute__((visibility("default"))) const void* ncmpio_inq_driver() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&ncmpi_create), &where) == 0) std::abort();
  void* library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const auto stock = reinterpret_cast<void* (*)()>(dlsym(library, "ncmpio_inq_driver"));
  if (stock == nullptr || reinterpret_cast<void*>(stock) == reinterpret_cast<void*>(&ncmpio_inq_driver))
    std::abort();
  return forebay_is_used ? forebay_pnetcdf_attach(stock(), library) : stock();
}

namespace forebay::test {

void use_forebay(bool on) {
  forebay_is_used = on;
}

bool can_switch() {
  return true;
}

}  // namespace forebay::test
