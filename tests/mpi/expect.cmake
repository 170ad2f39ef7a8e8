# cmake -DCOMMAND="a;b;c" -DCODE=n -DOUTPUT=regex -P expect.cmake: runs a command and fails unless it ends with that exit
# code and says that.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 60)
if(NOT code STREQUAL CODE)
  message(FATAL_ERROR "exit code ${code} instead of ${CODE}:\n${text}")
endif()
if(NOT text MATCHES "${OUTPUT}")
  message(FATAL_ERROR "no \"${OUTPUT}\" in:\n${text}")
endif()
