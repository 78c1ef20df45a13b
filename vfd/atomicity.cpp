// HDF5 takes a file's MPI_File from the driver's struct to change its atomicity, and tells the driver
// nothing. Files that were opened by their names have none until then, so these two functions of HDF5 are
// answered first: here in programs that link this library, by the shim in others. Where neither is so, as for
// a plugin, every file gets an MPI_File when it is opened.
#include <dlfcn.h>

#include "attach.hpp"
#include "base/loaded_object.hpp"
#include "driver.hpp"
#include "errors.hpp"
#include "handle.hpp"
#include "library.hpp"

namespace forebay::hdf5 {
namespace {

/// Asks the driver of the file, if it is this one; others' errors are for HDF5's own function to tell.
herr_t ask_for_handle(hid_t file, HandleWanted wanted, void*& handle, bool& ours) {
  const WantingHandle wanting(wanted);
  herr_t result = -1;
  H5E_BEGIN_TRY {
    result = H5Fget_vfd_handle(file, H5P_DEFAULT, &handle);
  }
  H5E_END_TRY
  ours = WantingHandle::answered();
  return result;
}

/// HDF5's own; null where it cannot be found.
const ApiContext* next() {
  const ApiContext* context = nullptr;
  (void)guarded("H5Fset_mpi_atomicity", [&] { return api_context(context); });
  return context != nullptr && context->set_mpi_atomicity != nullptr && context->get_mpi_atomicity != nullptr
             ? context
             : nullptr;
}

}  // namespace

bool handle_can_wait() {
  if (is_attached()) return true;
  static const bool first = [] {
    // From the program's scope: RTLD_DEFAULT would search this library's own as well, which the modules of an
    // interpreter do not see.
    void* const program = dlopen(nullptr, RTLD_LAZY);
    if (program == nullptr) return false;
    void* const found = dlsym(program, "H5Fset_mpi_atomicity");
    dlclose(program);
    void* const here = reinterpret_cast<void*>(&handle_can_wait);
    return found != nullptr && next() != nullptr && object_holding(found).start == object_holding(here).start;
  }();
  return first;
}

}  // namespace forebay::hdf5

using namespace forebay::hdf5;

herr_t forebay_hdf5_before_atomicity(hid_t file_id) {
  void* handle = nullptr;
  bool ours = false;
  const herr_t made = ask_for_handle(file_id, HandleWanted::for_atomicity, handle, ours);
  return ours ? report(made) : 0;
}

int forebay_hdf5_is_not_atomic(hid_t file_id) {
  void* handle = nullptr;
  bool ours = false;
  const herr_t asked = ask_for_handle(file_id, HandleWanted::as_it_is, handle, ours);
  return ours && asked >= 0 && *static_cast<MPI_File*>(handle) == MPI_FILE_NULL ? 1 : 0;
}

extern "C" FOREBAY_API herr_t H5Fset_mpi_atomicity(hid_t file_id, hbool_t flag) {
  const ApiContext* const stock = next();
  if (stock == nullptr || forebay_hdf5_before_atomicity(file_id) < 0) return -1;
  return stock->set_mpi_atomicity(file_id, flag);
}

extern "C" FOREBAY_API herr_t H5Fget_mpi_atomicity(hid_t file_id, hbool_t* flag) {
  const ApiContext* const stock = next();
  if (stock == nullptr) return -1;
  if (flag == nullptr || forebay_hdf5_is_not_atomic(file_id) == 0)
    return stock->get_mpi_atomicity(file_id, flag);
  *flag = false;
  return 0;
}
