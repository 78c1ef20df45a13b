// Finding PnetCDF's own driver in the process and deciding on its release.
#include "attach.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "base/status.hpp"
#include "errors.hpp"
#include "version.hpp"

namespace forebay::pnc {
namespace {

struct Library {
  const DriverTable* table = nullptr;
  void* handle = nullptr;
};

Library library;  // the one whose files we serve
std::mutex attach_mutex;

std::string release_in(void* handle) {
  if (const char* pretended = std::getenv("FOREBAY_TEST_PNETCDF_VERSION")) return pretended;
  const auto libvers = reinterpret_cast<const char* (*)()>(dlsym(handle, "ncmpi_inq_libvers"));
  return libvers == nullptr ? std::string{} : std::string(release_of(libvers()));
}

// One line for the whole program where MPI tells who is first.
void say_once(const std::string& message) {
  int initialized = 0, rank = 0;
  if (MPI_Initialized(&initialized) == MPI_SUCCESS && initialized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) warn_once(message);
}

// Returns the table to answer with.
const DriverTable* attach(const DriverTable* stock, void* handle) {
  const std::lock_guard lock(attach_mutex);
  if (library.table == stock) return &forebay_table();
  if (library.table != nullptr) {
    say_once("a second PnetCDF library in this process keeps its own driver");
    return stock;
  }
  const std::string release = release_in(handle);
  if (!is_supported_release(release)) {
    say_once("PnetCDF " + (release.empty() ? "of unknown version" : release) +
             " is not known to this driver (1.12.3 to 1.14.x are); PnetCDF's own driver is used");
    return stock;
  }
  library = {stock, handle};
  return &forebay_table();
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

const DriverTable* find_and_attach() {
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
  const auto* stock = static_cast<const DriverTable*>(reinterpret_cast<const void* (*)()>(symbol)());
  return attach(stock, handle);
}

}  // namespace

const DriverTable& stock_table() {
  return *library.table;
}

void* library_symbol(const char* name) {
  return dlsym(library.handle, name);
}

}  // namespace forebay::pnc

const void* forebay_pnetcdf_attach(void* stock_table, void* library_handle) {
  const void* answer = stock_table;
  (void)forebay::pnc::guarded([&] {
    answer = forebay::pnc::attach(static_cast<const forebay::pnc::DriverTable*>(stock_table), library_handle);
    return 0;
  });
  return answer;
}

const void* ncmpio_inq_driver() {
  static const void* const answer = forebay::pnc::find_and_attach();
  return answer;
}
