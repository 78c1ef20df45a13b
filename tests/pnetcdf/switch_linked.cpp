// Which driver PnetCDF gets, for its archive, where the linker's --wrap lets the test program answer
// PnetCDF's question for one.
#include <pnetcdf.h>

#include <cstring>

#include "attach.hpp"
#include "harness.hpp"

namespace {

bool forebay_is_used = false;

void* find_linked(void*, const char* name) {
  if (std::strcmp(name, "ncmpi_inq_libvers") == 0) return reinterpret_cast<void*>(&ncmpi_inq_libvers);
  if (std::strcmp(name, "ncmpi_inq_default_format") == 0)
    return reinterpret_cast<void*>(&ncmpi_inq_default_format);
  return nullptr;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" const void* __real_ncmpio_inq_driver();

extern "C" const void* __wrap_ncmpio_inq_driver() {
  const void* const stock = __real_ncmpio_inq_driver();
  return forebay_is_used ? forebay::pnc::attach(stock, find_linked, nullptr) : stock;
}
// NOLINTEND(bugprone-reserved-identifier)

namespace forebay::test {

void use_forebay(bool on) {
  forebay_is_used = on;
}

bool can_switch() {
  return true;
}

}  // namespace forebay::test
