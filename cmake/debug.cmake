# cmake -C cmake/debug.cmake: for working on the source. Nothing is optimized, and only what has changed is compiled again.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CPT_WARNINGS_AS_ERRORS ON CACHE BOOL "")
