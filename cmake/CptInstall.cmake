# What `cmake --install` copies: the two programs, the libraries with their public headers (include/cpt), and what
# find_package(cpt) needs. The app layer makes the programs and is of no use to others.
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/cpt")
foreach(layer core model data synthetic store comm api train)
  if(TARGET cpt_${layer})
    install(TARGETS cpt_${layer} EXPORT cptTargets)
  endif()
endforeach()
foreach(program cpt_dist cpt)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cpt" TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

install(EXPORT cptTargets NAMESPACE cpt:: DESTINATION "${package_folder}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/cptConfig.cmake.in" "${PROJECT_BINARY_DIR}/cptConfig.cmake"
  INSTALL_DESTINATION "${package_folder}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cptConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cptConfig.cmake" "${PROJECT_BINARY_DIR}/cptConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/CptDependencies.cmake" DESTINATION "${package_folder}")
