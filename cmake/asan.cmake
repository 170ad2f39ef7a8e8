# cmake -C cmake/asan.cmake: address and undefined-behaviour sanitizers. A debug build, so that its checks run in a test;
# -O1, because sanitizers are slow.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_CXX_FLAGS -O1 CACHE STRING "")
set(CPT_SANITIZE address,undefined CACHE STRING "")
set(CPT_WARNINGS_AS_ERRORS ON CACHE BOOL "")
set(CPT_WHOLE_LAYERS ON CACHE BOOL "")
