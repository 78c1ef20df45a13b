# What `cmake --install` gives a user's project: headers, the export of the libraries, a CMake package that finds
# what they link, and pkg-config files. What the command and the shim consist of, their rooms install.
include(CMakePackageConfigHelpers)
configure_file("${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake.in" "${PROJECT_BINARY_DIR}/uninstall.cmake" @ONLY)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P "${PROJECT_BINARY_DIR}/uninstall.cmake" VERBATIM)
set(FOREBAY_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/forebay")

set(unwanted "")
foreach(pair IN ITEMS HDF5/hdf5.h KOKKOS/kokkos.hpp)
  get_filename_component(feature "${pair}" DIRECTORY)
  get_filename_component(header "${pair}" NAME)
  if(NOT FOREBAY_BUILD_${feature})
    list(APPEND unwanted PATTERN "${header}" EXCLUDE)
  endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/forebay" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" ${unwanted})

# The pages with what they link to and show.
set(pages "")
foreach(name IN ITEMS LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md SUPPORT.md)
  list(APPEND pages "${PROJECT_SOURCE_DIR}/${name}")
endforeach()
install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md" PATTERN "*.svg"
        PATTERN "_static" EXCLUDE) # no folder without a file
install(DIRECTORY "${PROJECT_SOURCE_DIR}/packaging" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/docs/report.schema.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/forebay")

foreach(name IN ITEMS pure core hdf5 pnetcdf)
  if(TARGET forebay_${name})
    set_target_properties(forebay_${name} PROPERTIES EXPORT_NAME ${name})
  endif()
endforeach()
if(TARGET forebay_api)
  set_target_properties(forebay_api PROPERTIES EXPORT_NAME forebay)
  install(TARGETS forebay_api EXPORT forebayTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
if(TARGET forebay_kokkos)
  set_target_properties(forebay_kokkos PROPERTIES EXPORT_NAME kokkos)
  install(TARGETS forebay_kokkos EXPORT forebayTargets)
endif()
if(TARGET forebay_fortran)
  # A module file is for one compiler.
  set(FOREBAY_MODULE_DIR "${CMAKE_INSTALL_LIBDIR}/forebay/fortran")
  set_target_properties(forebay_fortran PROPERTIES EXPORT_NAME fortran)
  install(TARGETS forebay_fortran EXPORT forebayTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          INCLUDES DESTINATION "${FOREBAY_MODULE_DIR}")
  get_target_property(modules forebay_fortran Fortran_MODULE_DIRECTORY)
  install(DIRECTORY "${modules}/" DESTINATION "${FOREBAY_MODULE_DIR}" FILES_MATCHING PATTERN "*.mod")
endif()
install(TARGETS forebay_pure forebay_core EXPORT forebayTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET forebay_hdf5)
  install(TARGETS forebay_hdf5 EXPORT forebayTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  # HDF5 tries every library in HDF5_PLUGIN_PATH, so the plugin has a folder to itself.
  set(name "${CMAKE_SHARED_LIBRARY_PREFIX}forebay_hdf5${CMAKE_SHARED_LIBRARY_SUFFIX}")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/install")
  file(CREATE_LINK "../../${name}" "${PROJECT_BINARY_DIR}/install/${name}" SYMBOLIC)
  install(FILES "${PROJECT_BINARY_DIR}/install/${name}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/forebay/hdf5")
endif()
install(EXPORT forebayTargets NAMESPACE forebay:: DESTINATION "${FOREBAY_CMAKE_DIR}")

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/forebayConfig.cmake.in" "${PROJECT_BINARY_DIR}/forebayConfig.cmake"
  INSTALL_DESTINATION "${FOREBAY_CMAKE_DIR}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/forebayConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/forebayConfig.cmake" "${PROJECT_BINARY_DIR}/forebayConfigVersion.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/FindParallelHDF5.cmake" "${CMAKE_CURRENT_LIST_DIR}/FindPnetCDF.cmake"
        DESTINATION "${FOREBAY_CMAKE_DIR}")

# The prefix is told from where the .pc file lies, so that an installed tree can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(FOREBAY_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH FOREBAY_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" FOREBAY_PC_PREFIX "\${pcfiledir}/${FOREBAY_PC_PREFIX}")
endif()
list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE FOREBAY_PC_MPI_CFLAGS)
list(JOIN FOREBAY_PC_MPI_CFLAGS " " FOREBAY_PC_MPI_CFLAGS)
list(JOIN MPI_C_LIBRARIES " " FOREBAY_PC_MPI_LIBS)

# forebay_pkg_config(FILE DESCRIPTION CFLAGS LIBS)
function(forebay_pkg_config file FOREBAY_PC_DESCRIPTION FOREBAY_PC_CFLAGS FOREBAY_PC_LIBS)
  set(FOREBAY_PC_NAME ${file})
  configure_file("${PROJECT_SOURCE_DIR}/cmake/forebay.pc.in" "${PROJECT_BINARY_DIR}/${file}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${file}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
forebay_pkg_config(forebay "${PROJECT_DESCRIPTION}" "" "-lforebay")
if(TARGET forebay_fortran)
  forebay_pkg_config(forebay-fortran "Forebay for Fortran programs" "-I\${libdir}/forebay/fortran" "-lforebay_fortran -lforebay")
endif()
forebay_pkg_config(forebay-core "Forebay's core" "" "-lforebay_core -lforebay_pure -lstdc++ -lm -pthread")
if(TARGET forebay_hdf5)
  forebay_pkg_config(forebay-hdf5 "Forebay's HDF5 driver" "-I${ParallelHDF5_INCLUDE_DIR}"
                     "-lforebay_hdf5 ${ParallelHDF5_LIBRARY}")
endif()
if(TARGET forebay_pnetcdf)
  forebay_pkg_config(forebay-pnetcdf "Forebay's PnetCDF driver" "-I${PnetCDF_INCLUDE_DIR}"
                     "-Wl,--no-as-needed -lforebay_pnetcdf ${PnetCDF_LIBRARY}")
endif()
if(TARGET forebay_pnetcdf_archive)
  # For programs linked with PnetCDF's archive: pkg-config --libs forebay-pnetcdf-static. Driver and PnetCDF refer to
  # each other. Nothing is private, so that a forgotten --static does no harm. Another PnetCDF of the same release: pkg-config --define-variable=pnetcdf=/its/libpnetcdf.a ...
  get_filename_component(dir "${PnetCDF_LIBRARY}" DIRECTORY)
  set(FOREBAY_PC_VARIABLES "pnetcdf=${dir}/libpnetcdf.a")
  set(archives ${PnetCDF_ARCHIVES})
  list(REMOVE_ITEM archives "${dir}/libpnetcdf.a")
  list(JOIN archives " " archives)
  forebay_pkg_config(
    forebay-pnetcdf-static "Forebay's PnetCDF driver, linked into the program" "-I${PnetCDF_INCLUDE_DIR}"
    "-Wl,--wrap=ncmpio_inq_driver -Wl,--start-group -l:libforebay_pnetcdf.a \${pnetcdf} ${archives} -Wl,--end-group -lstdc++ -lm -pthread")
endif()
