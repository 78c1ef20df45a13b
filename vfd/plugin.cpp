// What HDF5 calls when it loads this library as a plugin, for HDF5_DRIVER=forebay or H5Pset_driver_by_name.
#include <H5PLextern.h>

#include "driver.hpp"
#include "library.hpp"

// The library that loads us need not be the one our own calls of HDF5 go to: a serial program would load the
// driver just the same, and its files would then be handled by two libraries at once. So whoever calls is
// looked at first.

extern "C" FOREBAY_API H5PL_type_t H5PLget_plugin_type(void) {
  return H5PL_TYPE_VFD;
}

extern "C" FOREBAY_API const void* H5PLget_plugin_info(void) {
  try {
    const forebay::Status status = forebay::hdf5::check_same_library(__builtin_return_address(0));
    if (status.ok()) return &forebay::hdf5::driver_class();
    forebay::warn_once(status.message());
  } catch (...) {  // no memory for the message
  }
  return nullptr;
}
