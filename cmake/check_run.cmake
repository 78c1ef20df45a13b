# Runs a program in the working directory and checks how it ends; for forebay_add_run_test:
# -DRUN=program;argument... -DSTATUS= -DSAYS=regular expression -DTRACES=what it may not leave behind.
execute_process(
  COMMAND ${RUN}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE progress)
if(NOT status EQUAL STATUS)
  message(FATAL_ERROR "it ended with ${status} instead of ${STATUS}:\n${output}\n${progress}")
endif()
if(NOT "${progress}${output}" MATCHES "${SAYS}")
  message(FATAL_ERROR "nothing like '${SAYS}' in:\n${output}\n${progress}")
endif()
file(GLOB left ${TRACES})
if(left)
  message(FATAL_ERROR "left behind: ${left}")
endif()
