# Runs the benchmark, tiny, and checks how it ends: -DBENCH= -DFOREBAY= -DEXPECT= -DSAYS= -DARGS=.
execute_process(
  COMMAND ${BENCH} --forebay ${FOREBAY} --tiny --ranks 2 --reps 1 --dir . --maps nowhere ${ARGS}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE progress)
if(NOT status EQUAL EXPECT)
  message(FATAL_ERROR "it ended with ${status} instead of ${EXPECT}:\n${output}\n${progress}")
endif()
if(NOT "${progress}${output}" MATCHES "${SAYS}")
  message(FATAL_ERROR "nothing like '${SAYS}' in:\n${output}\n${progress}")
endif()
file(GLOB left forebay-pnetcdf-*)
if(left)
  message(FATAL_ERROR "left behind: ${left}")
endif()
