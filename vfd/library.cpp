// Finds the bound HDF5 library among those in the process, by the addresses of its functions.
#include "library.hpp"

#include <H5FDdevelop.h>
#include <dlfcn.h>

#include <string>

#include "base/loaded_object.hpp"

namespace forebay::hdf5 {
namespace {

/// The object that holds one of HDF5's functions that we call. H5FDctl, since a program that took its address
/// would be odd: the address of a function that an executable takes may be that of a stub in the executable.
LoadedObject bound_library() {
  return object_holding(reinterpret_cast<const void*>(&H5FDctl));
}

const char* name_of(const LoadedObject& object) {
  return *object.path != '\0' ? object.path : "the executable";
}

class Symbols {
 public:
  Symbols() {
    if (library_.start == nullptr) return;
    // Without a path HDF5 is part of the executable.
    handle_ =
        *library_.path != '\0' ? dlopen(library_.path, RTLD_LAZY | RTLD_NOLOAD) : dlopen(nullptr, RTLD_LAZY);
  }
  ~Symbols() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  template <class Function>
  void find_if_there(const char* name, Function*& out) {
    void* address = handle_ != nullptr ? dlsym(handle_, name) : nullptr;
    if (address != nullptr && object_holding(address).start == library_.start)
      out = reinterpret_cast<Function*>(address);
  }
  template <class Function>
  void find(const char* name, Function*& out) {
    find_if_there(name, out);
    if (out == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }
  std::string path() const { return name_of(library_); }

 private:
  LoadedObject library_ = bound_library();
  void* handle_ = nullptr;
  std::string missing_;
};

}  // namespace

Status api_context(const ApiContext*& context) {
  struct Found {
    ApiContext functions;
    Status status;
    Found() {
      Symbols symbols;
      symbols.find("H5CX_get_io_xfer_mode", functions.get_io_xfer_mode);
      symbols.find("H5CX_get_mpi_coll_datatypes", functions.get_mpi_coll_datatypes);
      symbols.find("H5CX_get_mpio_coll_opt", functions.get_mpio_coll_opt);
      symbols.find("H5CX_get_mpio_rank0_bcast", functions.get_mpio_rank0_bcast);
      symbols.find("H5CX_get_mpi_file_flushing", functions.get_mpi_file_flushing);
      symbols.find("H5Pget_driver", functions.get_driver);
      symbols.find_if_there("H5Fset_mpi_atomicity", functions.set_mpi_atomicity);
      symbols.find_if_there("H5Fget_mpi_atomicity", functions.get_mpi_atomicity);
      symbols.find_if_there("H5CX_get_ring", functions.get_ring);
      symbols.find_if_there("H5CX_get_mpio_global_no_coll_cause", functions.get_no_collective_cause);
      symbols.find_if_there("H5I_object", functions.object_of);
      symbols.find_if_there("H5P_peek", functions.peek);
      symbols.find_if_there("H5S_get_select_npoints", functions.get_select_npoints);
      symbols.find_if_there("H5S_get_select_type", functions.get_select_type);
      symbols.find_if_there("H5S_get_select_bounds", functions.get_select_bounds);
      if (functions.object_of == nullptr || functions.get_select_npoints == nullptr ||
          functions.get_select_type == nullptr || functions.get_select_bounds == nullptr)
        functions.get_select_type = nullptr;
      if (!symbols.missing().empty()) {
        status = {Code::unsupported, "the HDF5 library " + symbols.path() + " does not export " +
                                         symbols.missing() + ", which says whether a transfer is collective"};
      }
    }
  };
  static const Found found;
  context = &found.functions;
  return found.status;
}

Status check_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0)
    return {Code::unsupported, "HDF5 does not tell its version"};
  if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR) return {};
  const auto version = [](unsigned a, unsigned b) { return std::to_string(a) + "." + std::to_string(b); };
  return {Code::unsupported, "this driver was built for HDF5 " + version(H5_VERS_MAJOR, H5_VERS_MINOR) +
                                 ", the program runs HDF5 " + version(major, minor) + "." +
                                 std::to_string(release)};
}

Status check_same_mpi() {
  const LoadedObject library = bound_library();
  const LoadedObject ours = object_holding(reinterpret_cast<const void*>(&MPI_Get_library_version));
  if (library.start == nullptr || ours.start == nullptr || *library.path == '\0')
    return {};  // part of the executable, as the symbols of its MPI then are
  void* handle = dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  const void* address = dlsym(handle, "MPI_Get_library_version");
  dlclose(handle);
  const LoadedObject theirs = address != nullptr ? object_holding(address) : ours;
  if (theirs.start == nullptr || theirs.start == ours.start) return {};
  return {Code::unsupported, std::string("the HDF5 library uses the MPI library ") + name_of(theirs) +
                                 ", this driver was built for " + name_of(ours)};
}

Status check_same_library(const void* caller) {
  const LoadedObject ours = bound_library();
  const LoadedObject theirs = object_holding(caller);
  if (ours.start == nullptr || theirs.start == nullptr) {
    return {Code::unsupported, "cannot tell which HDF5 library loads the driver"};
  }
  if (ours.start == theirs.start) return {};
  return {
      Code::unsupported,
      std::string("the driver cannot be used by ") + name_of(theirs) +
          ", it works with the parallel HDF5 library " + name_of(ours) +
          " only. Link the program with that, shared (h5pcc -shlib); a serial program such as h5dump reads "
          "Forebay's files without any driver: unset HDF5_DRIVER"};
}

}  // namespace forebay::hdf5
