# Registers tests: unit tests without MPI, and MPI tests once for each rank count.
#
#   forebay_add_unit_test(NAME SOURCES f.cpp... [LIBS lib...] [PURE] [TIMEOUT s] [ARGS a...] [LABELS l...])
#     A GoogleTest program with GoogleTest's main. PURE: it needs no MPI, so it is also built and run by the
#     sanitizer builds that contain no MPI (target pure_tests, label pure).
#
#   forebay_add_mpi_test(NAME [RANKS 1 2 4 7] [TIMEOUT 60] [ENV K=V...] [LABELS l...] [ARGS a...]
#                        SOURCES f.cpp... [LIBS lib...] | TARGET t | COMMAND c...)
#     One test a rank count, called NAME.np4. SOURCES makes the program (with its own main) first.
#     A test writes into its working directory, which is its own: two rank counts may run at once.
#
#   forebay_add_run_test(NAME SAYS regex [STATUS 0] [TRACES glob] [TIMEOUT 120] [PROCESSORS 2] [ENV K=V...]
#                        [LABELS l...] COMMAND c...)
#     A program that starts MPI itself: its exit status, something it prints, and that it leaves no TRACES
#     behind in its working directory.

# Several ranks share a core here, so ranks that wait must yield; the tcp transport has nothing to add on one machine.
# FOREBAY_ROMIO_ENV: what makes MPI-IO be ROMIO, where the MPI library has another one, too.
set(FOREBAY_OPEN_MPI 0)
foreach(dir IN LISTS MPI_C_INCLUDE_DIRS)
  if(EXISTS "${dir}/mpi.h")
    file(STRINGS "${dir}/mpi.h" line LIMIT_COUNT 1 REGEX "#define OMPI_MAJOR_VERSION +[0-9]")
    if(line MATCHES "VERSION +([0-9]+)")
      set(FOREBAY_OPEN_MPI ${CMAKE_MATCH_1})
    endif()
  endif()
endforeach()
if(FOREBAY_OPEN_MPI)
  set(FOREBAY_MPI_TEST_ENV OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,sm)
  set(FOREBAY_ROMIO_ENV OMPI_MCA_io=romio341)
else()
  # MPICH's ranks yield only with threads.
  set(FOREBAY_MPI_TEST_ENV MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE MPIR_CVAR_POLLS_BEFORE_YIELD=1
                           MPIR_CVAR_ENABLE_HEAVY_YIELD=1)
  set(FOREBAY_ROMIO_ENV "")
endif()
if(FOREBAY_OPEN_MPI GREATER_EQUAL 6)
  list(APPEND FOREBAY_MPI_TEST_ENV PRTE_MCA_mapby=:oversubscribe) # renamed; the old name is grumbled about
elseif(FOREBAY_OPEN_MPI)
  list(APPEND FOREBAY_MPI_TEST_ENV PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
endif()
if(FOREBAY_SANITIZE MATCHES "address")
  # MPI and the libraries it loads leak, and are unloaded before anybody could name them.
  list(APPEND FOREBAY_MPI_TEST_ENV ASAN_OPTIONS=detect_leaks=0)
endif()

add_custom_target(pure_tests)

function(forebay_add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PURE" "TIMEOUT" "SOURCES;LIBS;ARGS;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "forebay_add_unit_test(${name}): bad arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT FOREBAY_BUILD_TESTS OR (FOREBAY_ONLY_PURE AND NOT arg_PURE))
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} forebay_warnings GTest::gtest GTest::gmock GTest::gtest_main
                                        Threads::Threads)
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set(labels unit ${arg_LABELS})
  if(arg_PURE)
    list(APPEND labels pure)
    add_dependencies(pure_tests ${name})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT})
endfunction()

function(forebay_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;TARGET" "RANKS;SOURCES;LIBS;COMMAND;ARGS;ENV;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "forebay_add_mpi_test(${name}): bad arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT FOREBAY_BUILD_TESTS OR FOREBAY_ONLY_PURE)
    return()
  endif()
  if(arg_SOURCES)
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LIBS} forebay_warnings MPI::MPI_CXX Threads::Threads)
    set(arg_TARGET ${name})
  endif()
  if(arg_TARGET)
    set(arg_COMMAND $<TARGET_FILE:${arg_TARGET}>)
  elseif(NOT arg_COMMAND)
    message(FATAL_ERROR "forebay_add_mpi_test(${name}): needs SOURCES, TARGET or COMMAND")
  endif()
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 4 7)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    set(test ${name}.np${ranks})
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/run/${test}")
    file(MAKE_DIRECTORY "${dir}")
    add_test(
      NAME ${test}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} ${arg_COMMAND} ${arg_ARGS}
      WORKING_DIRECTORY "${dir}")
    # PROCESSORS keeps `ctest -j` from piling up ranks: a test of more ranks than there are jobs runs alone.
    # A test that hangs is ended by SIGTERM, so that mpiexec takes its ranks along.
    set_tests_properties(
      ${test}
      PROPERTIES LABELS "mpi;${arg_LABELS}"
                 TIMEOUT ${arg_TIMEOUT}
                 PROCESSORS ${ranks}
                 TIMEOUT_SIGNAL_NAME SIGTERM
                 TIMEOUT_SIGNAL_GRACE_PERIOD 5
                 ENVIRONMENT "${FOREBAY_MPI_TEST_ENV};${arg_ENV}")
  endforeach()
endfunction()

function(forebay_add_run_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SAYS;STATUS;TRACES;TIMEOUT;PROCESSORS" "COMMAND;ENV;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_COMMAND OR NOT arg_SAYS)
    message(FATAL_ERROR "forebay_add_run_test(${name}): bad arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(default IN ITEMS "STATUS 0" "TIMEOUT 120" "PROCESSORS 2")
    separate_arguments(default)
    list(POP_FRONT default key)
    if(NOT DEFINED arg_${key})
      set(arg_${key} ${default})
    endif()
  endforeach()
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/run/${name}")
  file(MAKE_DIRECTORY "${dir}")
  add_test(
    NAME ${name}
    COMMAND ${CMAKE_COMMAND} "-DRUN=${arg_COMMAND}" -DSTATUS=${arg_STATUS} "-DSAYS=${arg_SAYS}" "-DTRACES=${arg_TRACES}"
            -P ${PROJECT_SOURCE_DIR}/cmake/check_run.cmake
    WORKING_DIRECTORY "${dir}")
  set_tests_properties(
    ${name}
    PROPERTIES LABELS "mpi;${arg_LABELS}"
               TIMEOUT ${arg_TIMEOUT}
               PROCESSORS ${arg_PROCESSORS}
               ENVIRONMENT "${FOREBAY_MPI_TEST_ENV};${arg_ENV}")
endfunction()
