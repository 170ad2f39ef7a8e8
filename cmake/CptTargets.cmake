# How this project makes its targets: one library per layer, one test program per tests/ folder.

# The compile options of every target of the project. Programs that link the installed libraries do not inherit them.
function(cpt_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow
    # A fused multiply-add rounds once where a multiply and an add round twice: the bytes of a model would then depend on
    # the processor it was trained on.
    -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlapping copies in its own std::string operator+ (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(CPT_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CPT_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(CPT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${CPT_SANITIZE} -fno-omit-frame-pointer -g1
      -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${CPT_SANITIZE})
  endif()
endfunction()

# With CPT_WHOLE_LAYERS, compiles all sources of a layer or program as one.
function(cpt_allow_whole target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CPT_WHOLE_LAYERS} UNITY_BUILD_BATCH_SIZE 0)
endfunction()

# cpt_add_layer(NAME SOURCES ... [PER_TARGET sources that Highway compiles once per instruction set ...]
#               [DEPENDS layers below ...] [LINK libraries that callers need too ...] [LINK_PRIVATE libraries ...]
#               [HEADERS header-only libraries that only our sources include ...])
function(cpt_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PER_TARGET;DEPENDS;LINK;LINK_PRIVATE;HEADERS")
  set(target cpt_${name})
  add_library(${target} STATIC ${arg_SOURCES} ${arg_PER_TARGET})
  add_library(cpt::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  cpt_allow_whole(${target})
  set_source_files_properties(${arg_PER_TARGET} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  cpt_compile_options(${target})
  if(CPT_SANITIZE MATCHES undefined)
    # They would take compilers five minutes more.
    set_source_files_properties(${arg_PER_TARGET} PROPERTIES COMPILE_OPTIONS -fno-sanitize=undefined)
  endif()
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  list(TRANSFORM arg_DEPENDS PREPEND cpt::)
  list(TRANSFORM arg_HEADERS REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} ${arg_LINK} PRIVATE ${arg_LINK_PRIVATE} ${arg_HEADERS})
endfunction()

# The options of every test program.
function(cpt_test_options target)
  cpt_compile_options(${target})
  if(CPT_SANITIZE MATCHES undefined)
    # Only the libraries are checked; tests take most of the time to compile.
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    # The libraries under test are optimized; tests run too briefly to repay the time to compile them so.
    target_compile_options(${target} PRIVATE -O0)
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
endfunction()

# cpt_add_test_headers(): the headers that most tests include, compiled once for all test programs.
function(cpt_add_test_headers)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp" CONTENT "")
  add_library(cpt_test_headers OBJECT "${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp")
  cpt_test_options(cpt_test_headers)
  target_precompile_headers(cpt_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <algorithm> <filesystem> <fstream> <functional> <map> <random> <sstream> <string> <vector>)
endfunction()

# Test sources start from those headers. With CPT_WHOLE_LAYERS, eight at a time are compiled as one, which takes half the
# time: their file-local names must differ.
function(cpt_compile_together target)
  target_precompile_headers(${target} REUSE_FROM cpt_test_headers)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CPT_WHOLE_LAYERS} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# cpt_add_test_library(NAME SOURCES ... [LINK targets ...]): what several test programs share.
function(cpt_add_test_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${target} STATIC ${arg_SOURCES})
  cpt_test_options(${target})
  cpt_compile_together(${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PUBLIC ${arg_LINK})
endfunction()

# cpt_add_tests(NAME SOURCES ... LINK targets ... [LABELS ...] [TIMEOUT seconds] [PROCESSORS that a test keeps busy]
#               [SHARDS processes] [EACH_CASE]): one GoogleTest program.
#
# ctest starts it SHARDS times (once by default), and each process runs its share of the cases and writes its results to
# results/NAME.SHARD.xml in the build folder, where launch/test counts the cases. With EACH_CASE every case is a process
# and a ctest entry of its own: for cases that start jobs, wait, or must have the processors for themselves.
function(cpt_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EACH_CASE" "TIMEOUT;PROCESSORS;SHARDS" "SOURCES;LINK;LABELS")
  set(target cpt_${name}_tests)
  add_executable(${target} ${arg_SOURCES})
  cpt_test_options(${target})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  cpt_compile_together(${target})
  foreach(default TIMEOUT:300 PROCESSORS:1 SHARDS:1)
    string(REPLACE ":" ";" default ${default})
    list(POP_FRONT default option)
    if(NOT arg_${option})
      set(arg_${option} ${default})
    endif()
  endforeach()
  set(properties LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS})
  if(arg_EACH_CASE)
    # Number the parameters: GoogleTest may print addresses, which differ from run to run.
    gtest_discover_tests(${target} TEST_PREFIX "${name}." NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
    return()
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    cpt_add_test_process(${name}.${shard} COMMAND ${target} PROPERTIES ${properties}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# cpt_add_test_process(NAME COMMAND a GoogleTest program and its arguments ... [ENVIRONMENT ...] PROPERTIES ...): a ctest
# entry of many cases, which are counted one by one.
function(cpt_add_test_process name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;ENVIRONMENT;PROPERTIES")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES ${arg_PROPERTIES})
  set_property(TEST ${name} PROPERTY ENVIRONMENT ${arg_ENVIRONMENT} "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/results/${name}.xml")
endfunction()
