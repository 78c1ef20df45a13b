// Attaching at link time, with -Wl,--wrap=ncmpio_inq_driver: PnetCDF's archive and this driver become one
// program, or one shared library. The linker takes each for the other's; nothing is looked up at run time.
#include <pnetcdf.h>

#include <cstring>

#include "attach.hpp"
#include "errors.hpp"
#include "forebay/version.h"

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
/// PnetCDF's own, as the linker calls it under --wrap.
const void* __real_ncmpio_inq_driver();

/// What PnetCDF's calls become. Hidden: a program may well have a shared PnetCDF beside.
const void* __wrap_ncmpio_inq_driver();

/// Tells those who look into the program or library that PnetCDF's driver in it is Forebay's, also where
/// symbols are stripped.
__attribute__((visibility("default"))) extern const char forebay_pnetcdf_inside[];
const char forebay_pnetcdf_inside[] = "@(#) Forebay PnetCDF driver " FOREBAY_VERSION;
}

namespace {

void* find_linked(void*, const char* name) {
  if (std::strcmp(name, "ncmpi_inq_libvers") == 0) return reinterpret_cast<void*>(&ncmpi_inq_libvers);
  if (std::strcmp(name, "ncmpi_inq_default_format") == 0)
    return reinterpret_cast<void*>(&ncmpi_inq_default_format);
  return nullptr;
}

}  // namespace

const void* __wrap_ncmpio_inq_driver() {
  asm volatile("" : : "r"(forebay_pnetcdf_inside));  // the linker drops what nobody refers to
  const void* const stock = __real_ncmpio_inq_driver();
  const void* answer = stock;
  (void)forebay::pnc::guarded([&] {
    answer = forebay::pnc::attach(stock, find_linked, nullptr);
    return 0;
  });
  return answer;
}
// NOLINTEND(bugprone-reserved-identifier)
