# cmake -C cmake/release.cmake: the build of launch/demo and launch/test, in build/release.
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(CPT_WHOLE_LAYERS ON CACHE BOOL "")
