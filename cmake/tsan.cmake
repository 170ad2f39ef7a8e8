# cmake -C cmake/tsan.cmake: the thread sanitizer, in a debug build with -O1.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
# Kernels start no threads, so one instruction set is enough: compiling all takes minutes.
set(CMAKE_CXX_FLAGS "-O1 -DHWY_COMPILE_ONLY_STATIC" CACHE STRING "")
set(CPT_SANITIZE thread CACHE STRING "")
set(CPT_WARNINGS_AS_ERRORS ON CACHE BOOL "")
set(CPT_WHOLE_LAYERS ON CACHE BOOL "")
