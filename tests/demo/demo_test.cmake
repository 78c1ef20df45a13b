# Runs the demo with a stand-in for Forebay and checks how it ends: -DDEMO= -DFOREBAY= -DPRETEND= -DEXPECT= -DSAYS=.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PRETEND=${PRETEND} ${DEMO} --forebay ${FOREBAY} --ranks 3 --ne 1 --levels 4 --repeat 1
          ${ARGS}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE progress)
if(NOT status EQUAL EXPECT)
  message(FATAL_ERROR "it ended with ${status} instead of ${EXPECT}:\n${output}\n${progress}")
endif()
if(NOT "${output}${progress}" MATCHES "${SAYS}")
  message(FATAL_ERROR "nothing like '${SAYS}' in:\n${output}\n${progress}")
endif()
file(GLOB left forebay-demo-*)
if(left)
  message(FATAL_ERROR "left behind: ${left}")
endif()
