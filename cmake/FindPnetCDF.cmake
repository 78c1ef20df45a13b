# Finds PnetCDF and makes the target PnetCDF::PnetCDF.
#
# The header and the library are looked for directly: the pkg-config file of some distributions carries the paths of
# the machine that built it. Set PnetCDF_ROOT to choose one: then no other is taken.
# Results: PnetCDF_FOUND, PnetCDF_VERSION, PnetCDF_INCLUDE_DIR, PnetCDF_LIBRARY; and, where its archive lies beside the
# library, PnetCDF_ARCHIVES (itself and, from 1.15 on, that of its file access).
include(FindPackageHandleStandardArgs)

set(_forebay_only "")
if(PnetCDF_ROOT OR DEFINED ENV{PnetCDF_ROOT})
  set(_forebay_only NO_DEFAULT_PATH)
endif()
find_path(PnetCDF_INCLUDE_DIR pnetcdf.h HINTS ${PnetCDF_ROOT} ENV PnetCDF_ROOT ENV PNETCDF_DIR PATH_SUFFIXES include ${_forebay_only})
find_library(PnetCDF_LIBRARY pnetcdf HINTS ${PnetCDF_ROOT} ENV PnetCDF_ROOT ENV PNETCDF_DIR
             PATH_SUFFIXES lib lib64 lib/${CMAKE_LIBRARY_ARCHITECTURE} ${_forebay_only})

if(PnetCDF_INCLUDE_DIR)
  file(STRINGS "${PnetCDF_INCLUDE_DIR}/pnetcdf.h" _lines REGEX "#define PNETCDF_VERSION ")
  string(REGEX REPLACE ".*PNETCDF_VERSION +\"([0-9.]+).*" "\\1" PnetCDF_VERSION "${_lines}")
endif()

find_package_handle_standard_args(
  PnetCDF
  REQUIRED_VARS PnetCDF_LIBRARY PnetCDF_INCLUDE_DIR
  VERSION_VAR PnetCDF_VERSION
  REASON_FAILURE_MESSAGE "PnetCDF is needed (Debian: libpnetcdf-dev), PnetCDF_ROOT chooses one")

set(PnetCDF_ARCHIVES "")
if(PnetCDF_LIBRARY)
  get_filename_component(_forebay_pnetcdf_dir "${PnetCDF_LIBRARY}" DIRECTORY)
  foreach(_name IN ITEMS pnetcdf gio)
    if(EXISTS "${_forebay_pnetcdf_dir}/libpnetcdf.a" AND EXISTS "${_forebay_pnetcdf_dir}/lib${_name}.a")
      list(APPEND PnetCDF_ARCHIVES "${_forebay_pnetcdf_dir}/lib${_name}.a")
    endif()
  endforeach()
endif()

if(PnetCDF_FOUND AND NOT TARGET PnetCDF::PnetCDF)
  add_library(PnetCDF::PnetCDF UNKNOWN IMPORTED)
  set_target_properties(PnetCDF::PnetCDF PROPERTIES IMPORTED_LOCATION "${PnetCDF_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${PnetCDF_INCLUDE_DIR}")
  if(TARGET MPI::MPI_C)
    set_property(TARGET PnetCDF::PnetCDF APPEND PROPERTY INTERFACE_LINK_LIBRARIES MPI::MPI_C)
  endif()
endif()
mark_as_advanced(PnetCDF_INCLUDE_DIR PnetCDF_LIBRARY)
