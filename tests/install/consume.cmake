# Installs a build into an empty folder, then builds and runs the consumer there against nothing but that.
#   cmake -DBUILD=... -DCONSUMER=... -DWORK=... -DTARGET=... -DEXPECTED=... -DCOMPILER=... -P consume.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCPT_TARGET=${TARGET}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
if(NOT output MATCHES "${EXPECTED}")
  message(FATAL_ERROR "the consumer printed: ${output}\nexpected: ${EXPECTED}")
endif()
file(REMOVE_RECURSE "${WORK}")
