# Installs the project, builds a program outside this tree with the installed libraries, and runs it.
#   cmake -DBUILD=... -DCONSUMER=... -DWORK=... -DEXPECTED=... -DCOMPILER=... [-DTRAIN=ON] -P consume.cmake
#
# Without TRAIN the consumer is configured where MPI cannot be found, links cpt::cpt with CMake and once more with
# pkg-config, and neither it nor the program `cpt` may load an MPI library. With TRAIN it links cpt::train.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_output)
  run(${ARGN})
  if(NOT output MATCHES "${EXPECTED}")
    message(FATAL_ERROR "${ARGN} printed: ${output}\nexpected: ${EXPECTED}")
  endif()
endfunction()

# Checks whether a program loads MPI. cpt_dist must, or this check would prove nothing.
function(expect_mpi program wanted)
  run(ldd "${program}")
  set(found FALSE)
  if(output MATCHES "libmpi|libboost_mpi|libopen-rte")
    set(found TRUE)
  endif()
  if(NOT found STREQUAL wanted)
    message(FATAL_ERROR "${program}: loads MPI: ${found}, expected ${wanted}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
set(options -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON)
if(TRAIN)
  set(options -DCPT_TRAIN=ON)
endif()
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" "-DCMAKE_PREFIX_PATH=${WORK}/prefix" ${options}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${WORK}/build")
expect_output("${WORK}/build/consumer")
expect_mpi("${WORK}/prefix/bin/cpt_dist" TRUE)
if(NOT TRAIN)
  expect_mpi("${WORK}/build/consumer" FALSE)
  expect_mpi("${WORK}/prefix/bin/cpt" FALSE)
  file(GLOB_RECURSE pc_file "${WORK}/prefix/*/cpt.pc")
  run("${CMAKE_COMMAND}" -E env --unset=PKG_CONFIG_PATH pkg-config --cflags --libs "${pc_file}")
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("${COMPILER}" -std=c++20 "${CONSUMER}/consumer.cpp" ${flags} -o "${WORK}/by_pkg_config")
  expect_output("${WORK}/by_pkg_config")
endif()
file(REMOVE_RECURSE "${WORK}")
