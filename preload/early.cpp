// Drivers for libraries that the program is linked with are loaded before main, with all their pages: 0.7 ms
// that a program's first file would wait for. Whatever cannot be loaded now is tried, and told, at its first
// use.
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/loaded_object.hpp"

#include "driver.hpp"
#include "process.hpp"

namespace forebay::preload {
namespace {

// From the page cache; where the system cannot, each page comes at its first use.
void map_pages(void* function) {
#if defined(MADV_POPULATE_READ) && defined(MADV_POPULATE_WRITE)
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* wanted) {
        if (start_of(*object) != wanted) return 0;
        const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          const uintptr_t begin = (object->dlpi_addr + part.p_vaddr) & ~(page - 1);
          const uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_filesz;
          madvise(reinterpret_cast<void*>(begin), end - begin,
                  (part.p_flags & PF_W) != 0 ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
        }
        return 1;
      },
      const_cast<void*>(object_holding(function).start));
#else
  (void)function;
#endif
}

/// Null: the program is not linked with such a library.
void* load_early(const char* function, const char* file, const char* prefix, const char* inside) {
  void* const address = dlsym(RTLD_NEXT, function);
  if (address == nullptr) return nullptr;
  const Definition stock = definition_at(address);
  if (!stock.handle() || (inside != nullptr && dlsym(stock.handle(), inside) != nullptr)) return nullptr;
  Reason reason;
  void* const driver = enabled(reason) ? load_driver(file, prefix, stock, reason) : nullptr;
  void* const known = driver != nullptr ? dlsym(driver, "forebay_write_out") : nullptr;
  if (known != nullptr) map_pages(known);
  return address;
}

// Two lookups, in a program that has neither.
[[gnu::constructor]] void load_drivers() {
  const auto* const program = reinterpret_cast<const void*>(getauxval(AT_PHDR));
  if (const void* pnetcdf =
          load_early("ncmpio_inq_driver", "libforebay_pnetcdf.so", "libpnetcdf", "forebay_pnetcdf_inside")) {
    know_definition("ncmpi_create", program);
    know_definition("ncmpi_open", program);
    know_definition("ncmpio_inq_driver", pnetcdf);
  }
  if (load_early("H5Pset_fapl_mpio", "libforebay_hdf5.so", "libhdf5", nullptr) != nullptr) {
    know_definition("H5Pset_fapl_mpio", program);
    know_definition("H5Fcreate", program);
    know_definition("H5Fopen", program);
  }
  (void)dlerror();  // what was not found is no error of the program's
}

}  // namespace
}  // namespace forebay::preload
