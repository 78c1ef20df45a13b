# Finds an HDF5 built with MPI and makes the target HDF5::HDF5.
#
# pkg-config names come first (distributions keep several HDF5s side by side, and the compiler wrapper on the path may
# belong to the serial one); CMake's own FindHDF5 is the second try. Set HDF5_ROOT to choose one.
# Results: ParallelHDF5_FOUND, ParallelHDF5_VERSION, ParallelHDF5_INCLUDE_DIR, ParallelHDF5_LIBRARY.
include(FindPackageHandleStandardArgs)

if(NOT ParallelHDF5_INCLUDE_DIR OR NOT ParallelHDF5_LIBRARY)
  find_package(PkgConfig QUIET)
  set(_forebay_h5_flavours hdf5-openmpi hdf5-mpich hdf5-mpi hdf5)
  if(MPI_C_LIBRARY_VERSION_STRING MATCHES "MPICH" OR MPI_C_INCLUDE_DIRS MATCHES "mpich")
    set(_forebay_h5_flavours hdf5-mpich hdf5-mpi hdf5)
  endif()
  if(HDF5_ROOT OR DEFINED ENV{HDF5_ROOT})
    find_path(ParallelHDF5_INCLUDE_DIR hdf5.h HINTS ${HDF5_ROOT} ENV HDF5_ROOT PATH_SUFFIXES include NO_DEFAULT_PATH)
    find_library(ParallelHDF5_LIBRARY hdf5 HINTS ${HDF5_ROOT} ENV HDF5_ROOT PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
  elseif(PkgConfig_FOUND)
    foreach(_flavour IN LISTS _forebay_h5_flavours)
      string(REPLACE "-" "_" _prefix "FOREBAY_PC_${_flavour}")
      pkg_check_modules(${_prefix} QUIET ${_flavour})
      if(NOT ${_prefix}_FOUND)
        continue()
      endif()
      string(REGEX REPLACE "^hdf5-?" "" _mpi "${_flavour}")
      find_path(ParallelHDF5_INCLUDE_DIR hdf5.h HINTS ${${_prefix}_INCLUDE_DIRS} NO_DEFAULT_PATH)
      find_library(ParallelHDF5_LIBRARY NAMES hdf5_${_mpi} hdf5 HINTS ${${_prefix}_LIBRARY_DIRS})
      if(ParallelHDF5_INCLUDE_DIR AND ParallelHDF5_LIBRARY)
        break()
      endif()
      unset(ParallelHDF5_INCLUDE_DIR CACHE)
      unset(ParallelHDF5_LIBRARY CACHE)
    endforeach()
  endif()
  if(NOT ParallelHDF5_INCLUDE_DIR OR NOT ParallelHDF5_LIBRARY)
    set(HDF5_PREFER_PARALLEL ON)
    find_package(HDF5 QUIET COMPONENTS C)
    if(HDF5_FOUND AND HDF5_IS_PARALLEL)
      find_path(ParallelHDF5_INCLUDE_DIR hdf5.h HINTS ${HDF5_C_INCLUDE_DIRS} NO_DEFAULT_PATH)
      set(ParallelHDF5_LIBRARY "${HDF5_C_LIBRARY_hdf5}" CACHE FILEPATH "The parallel HDF5 library")
    endif()
  endif()
endif()

set(ParallelHDF5_IS_PARALLEL FALSE)
foreach(_header IN ITEMS H5pubconf.h H5pubconf-64.h)
  if(EXISTS "${ParallelHDF5_INCLUDE_DIR}/${_header}")
    file(STRINGS "${ParallelHDF5_INCLUDE_DIR}/${_header}" _lines REGEX "#define H5_(HAVE_PARALLEL|VERSION) ")
    if(_lines MATCHES "H5_HAVE_PARALLEL 1")
      set(ParallelHDF5_IS_PARALLEL TRUE)
    endif()
  endif()
endforeach()
if(EXISTS "${ParallelHDF5_INCLUDE_DIR}/H5public.h")
  file(STRINGS "${ParallelHDF5_INCLUDE_DIR}/H5public.h" _lines REGEX "#define H5_VERS_(MAJOR|MINOR|RELEASE) ")
  string(REGEX REPLACE ".*H5_VERS_MAJOR +([0-9]+).*H5_VERS_MINOR +([0-9]+).*H5_VERS_RELEASE +([0-9]+).*" "\\1.\\2.\\3"
                       ParallelHDF5_VERSION "${_lines}")
endif()

find_package_handle_standard_args(
  ParallelHDF5
  REQUIRED_VARS ParallelHDF5_LIBRARY ParallelHDF5_INCLUDE_DIR ParallelHDF5_IS_PARALLEL
  VERSION_VAR ParallelHDF5_VERSION
  REASON_FAILURE_MESSAGE "an HDF5 built with MPI is needed (Debian: libhdf5-openmpi-dev), HDF5_ROOT chooses one")

if(ParallelHDF5_FOUND AND NOT TARGET HDF5::HDF5)
  add_library(HDF5::HDF5 UNKNOWN IMPORTED)
  set_target_properties(
    HDF5::HDF5 PROPERTIES IMPORTED_LOCATION "${ParallelHDF5_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                     "${ParallelHDF5_INCLUDE_DIR}")
  if(TARGET MPI::MPI_C)
    set_property(TARGET HDF5::HDF5 APPEND PROPERTY INTERFACE_LINK_LIBRARIES MPI::MPI_C)
  endif()
endif()
mark_as_advanced(ParallelHDF5_INCLUDE_DIR ParallelHDF5_LIBRARY)
