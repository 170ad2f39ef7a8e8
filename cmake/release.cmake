# cmake -C cmake/release.cmake: what launch/demo and launch/test build in build/release.
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(CPT_WHOLE_LAYERS ON CACHE BOOL "")
