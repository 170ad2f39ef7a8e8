# Writes core/version.h and cpt/version.h into the build folder. Configuring reads the commit, and runs again after a commit, checkout or merge
# has moved HEAD.
set(CPT_COMMIT unknown)
if(EXISTS "${PROJECT_SOURCE_DIR}/.git")
  find_package(Git QUIET)
  if(Git_FOUND)
    execute_process(COMMAND "${GIT_EXECUTABLE}" describe --always --dirty WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      OUTPUT_VARIABLE described RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(CPT_COMMIT "${described}")
    endif()
  endif()
  if(EXISTS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")
  endif()
endif()
configure_file("${PROJECT_SOURCE_DIR}/src/core/version.h.in" "${PROJECT_BINARY_DIR}/generated/core/version.h" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/include/cpt/version.h.in" "${PROJECT_BINARY_DIR}/generated/cpt/version.h" @ONLY)
