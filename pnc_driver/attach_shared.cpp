// Attaching by load order or by a loader: finding PnetCDF's own driver in the process.
#include "attach_shared.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "attach.hpp"
#include "base/speaker.hpp"
#include "base/status.hpp"
#include "errors.hpp"
#include "version.hpp"

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
    warn_once(
        "PnetCDF asks for its driver, but its own is not found in the process: where PnetCDF is linked "
        "statically, link with `pkg-config --libs forebay-pnetcdf-static`");
    return nullptr;
  }
  return attach(reinterpret_cast<const void* (*)()>(symbol)(), find_in_library, handle);
}

// The loaded object that holds `address`; null where there is none. Its name is empty for the program itself.
const link_map* object_with(const void* address) {
  Dl_info info{};
  void* object = nullptr;
  if (address == nullptr || dladdr1(address, &info, &object, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<const link_map*>(object);
}

// Linked after PnetCDF, or with one that asks nobody, this library changes nothing; then a line says so as
// the program starts, since nothing else would.
[[gnu::constructor]] void tell_if_in_vain() {
  const void* asked = dlsym(RTLD_DEFAULT, "ncmpio_inq_driver");
  const void* version = dlsym(RTLD_DEFAULT, "ncmpi_inq_libvers");
  const link_map* answering = object_with(asked);
  const link_map* library = object_with(version);
  if (answering == nullptr || !first_by_launcher()) return;
  // Not by the address of our function: that name means the first one here, too.
  if (answering != object_with(reinterpret_cast<const void*>(&object_with))) {
    // The preloaded shim answers for others; it is neither PnetCDF nor the program.
    if (answering != library && *answering->l_name != '\0') return;
    warn_once(std::string("PnetCDF runs on its stock driver: libforebay_pnetcdf.so is linked after it") +
              (*answering->l_name == '\0' ? ", and PnetCDF is linked statically; use `pkg-config --libs "
                                            "forebay-pnetcdf-static` instead"
                                          : "; it has to come first"));
    return;
  }
  if (library == nullptr || *library->l_name == '\0') return;
  void* handle = dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return;
  if (dlsym(handle, "ncmpio_inq_driver") == nullptr && dlsym(handle, "forebay_pnetcdf_inside") == nullptr) {
    warn_once(std::string("PnetCDF runs on its stock driver: ") + library->l_name + " (" +
              std::string(release_of(reinterpret_cast<const char* (*)()>(const_cast<void*>(version))())) +
              ") does not let its driver be replaced; use `forebay dropin` and `forebay run`");
  }
  dlclose(handle);
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
