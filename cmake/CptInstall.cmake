# What `cmake --install` copies: the two programs, the libraries with their public headers (include/cpt), the files that
# find_package(cpt) and pkg-config need, man pages, and completion for bash. The app layer makes the programs and is of no
# use to others.
#
# Two export sets: the libraries that predict and learn in one process, without MPI; and comm and train, which need it.
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/cpt")
set(cpt_archives "")
foreach(layer core model data store api)
  install(TARGETS cpt_${layer} EXPORT cptTargets)
  list(PREPEND cpt_archives -lcpt_${layer})
endforeach()
foreach(layer comm train)
  install(TARGETS cpt_${layer} EXPORT cptTrainTargets)
endforeach()
install(TARGETS cpt_dist cpt)
install(TARGETS cpt_c LIBRARY)  # for C, and languages that call C
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cpt" TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/generated/cpt/version.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/cpt")

install(EXPORT cptTargets NAMESPACE cpt:: DESTINATION "${package_folder}")
install(EXPORT cptTrainTargets NAMESPACE cpt:: DESTINATION "${package_folder}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/cptConfig.cmake.in" "${PROJECT_BINARY_DIR}/cptConfig.cmake"
  INSTALL_DESTINATION "${package_folder}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cptConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cptConfig.cmake" "${PROJECT_BINARY_DIR}/cptConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/CptDependencies.cmake" "${PROJECT_SOURCE_DIR}/cmake/CptTrainDependencies.cmake"
  DESTINATION "${package_folder}")

list(JOIN cpt_archives " " cpt_archives)
# Relative to the folder of cpt.pc, so that an installation can be moved.
file(RELATIVE_PATH cpt_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /)
configure_file("${PROJECT_SOURCE_DIR}/cmake/cpt.pc.in" "${PROJECT_BINARY_DIR}/cpt.pc" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/cmake/cpt-c.pc.in" "${PROJECT_BINARY_DIR}/cpt-c.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cpt.pc" "${PROJECT_BINARY_DIR}/cpt-c.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

foreach(program cpt cpt_dist)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/completion.bash" RENAME ${program}
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endforeach()

# Man pages are made while the programs are installed: nothing that only builds or tests waits for them.
find_program(HELP2MAN help2man)
if(HELP2MAN)
  set(make_man_pages "${PROJECT_SOURCE_DIR}/cmake/make_man_pages" "$<TARGET_FILE_DIR:cpt>" ${PROJECT_VERSION}
    "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1")
  list(JOIN make_man_pages "\" \"" make_man_pages)
  install(CODE "execute_process(COMMAND \"${make_man_pages}\" COMMAND_ERROR_IS_FATAL ANY)")
else()
  message(STATUS "No help2man: man pages are left out")
endif()

# Debian's package, made by `cpack` in the build folder.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "cpt developers <cpt@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# mpirun, and ssh, without which it does not start.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin, openssh-client")
if(CPT_PYTHON)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-numpy")
endif()
set(CPACK_STRIP_FILES ON)
include(CPack)
