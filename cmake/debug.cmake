# cmake -C cmake/debug.cmake: for development. No optimization, and only changed sources are compiled again.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CPT_WARNINGS_AS_ERRORS ON CACHE BOOL "")
