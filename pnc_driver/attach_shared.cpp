// Attaching by load order or by a loader: finding PnetCDF's own driver in the process.
#include "attach_shared.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstring>

#include "attach.hpp"
#include "base/status.hpp"
#include "errors.hpp"

namespace forebay::pnc {
namespace {

void* find_in_library(void* handle, const char* name) {
  return dlsym(handle, name);
}

// Looks in every loaded library that is called pnetcdf: those that a plug-in or an interpreter loaded for
// itself are not in the global search order.
int find_in_object(dl_phdr_info* object, std::size_t, void* result) {
  if (object->dlpi_name == nullptr || std::strstr(object->dlpi_name, "pnetcdf") == nullptr) return 0;
  void* handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  void* symbol = dlsym(handle, "ncmpio_inq_driver");
  if (symbol == nullptr || symbol == reinterpret_cast<void*>(&ncmpio_inq_driver)) {
    dlclose(handle);
    return 0;
  }
  *static_cast<void**>(result) = handle;
  return 1;
}

const void* find_and_attach() {
  void* handle = RTLD_NEXT;
  void* symbol = dlsym(RTLD_NEXT, "ncmpio_inq_driver");
  if (symbol == nullptr) {
    handle = nullptr;
    dl_iterate_phdr(find_in_object, &handle);
    if (handle != nullptr) symbol = dlsym(handle, "ncmpio_inq_driver");
  }
  if (symbol == nullptr) {
    warn_once("PnetCDF asks for its driver, but no PnetCDF library with one is found in the process");
    return nullptr;
  }
  return attach(reinterpret_cast<const void* (*)()>(symbol)(), find_in_library, handle);
}

}  // namespace
}  // namespace forebay::pnc

const void* forebay_pnetcdf_attach(void* stock_table, void* library_handle) {
  const void* answer = stock_table;
  (void)forebay::pnc::guarded([&] {
    answer = forebay::pnc::attach(stock_table, forebay::pnc::find_in_library, library_handle);
    return 0;
  });
  return answer;
}

const void* ncmpio_inq_driver() {
  static const void* const answer = forebay::pnc::find_and_attach();
  return answer;
}
