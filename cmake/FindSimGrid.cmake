# Finds SimGrid with SMPI, its MPI, and makes the target SimGrid::SMPI. SimGrid_ROOT chooses one.
# Results: SimGrid_FOUND, SimGrid_LIBRARY, SimGrid_SMPI_INCLUDE_DIR (where its mpi.h is), SimGrid_SMPIRUN.
include(FindPackageHandleStandardArgs)

find_path(SimGrid_INCLUDE_DIR simgrid/s4u.hpp)
find_path(SimGrid_SMPI_INCLUDE_DIR smpi_helpers.h PATH_SUFFIXES smpi)
find_library(SimGrid_LIBRARY simgrid)
find_program(SimGrid_SMPIRUN smpirun)

find_package_handle_standard_args(
  SimGrid
  REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE_DIR SimGrid_SMPI_INCLUDE_DIR SimGrid_SMPIRUN
  REASON_FAILURE_MESSAGE "SimGrid with SMPI is needed (Debian: libsimgrid-dev)")
mark_as_advanced(SimGrid_LIBRARY SimGrid_INCLUDE_DIR SimGrid_SMPI_INCLUDE_DIR SimGrid_SMPIRUN)

if(SimGrid_FOUND AND NOT TARGET SimGrid::SMPI)
  add_library(SimGrid::SMPI UNKNOWN IMPORTED)
  set_target_properties(
    SimGrid::SMPI PROPERTIES IMPORTED_LOCATION "${SimGrid_LIBRARY}"
                             INTERFACE_INCLUDE_DIRECTORIES "${SimGrid_SMPI_INCLUDE_DIR};${SimGrid_INCLUDE_DIR}")
endif()
