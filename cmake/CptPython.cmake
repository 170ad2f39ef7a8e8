# Python and what the module cpt is built with: pybind11's headers, and numpy to run it. Of several Pythons, -DPython3_EXECUTABLE
# names one; else the first that has numpy is taken.
if(NOT Python3_EXECUTABLE)
  find_program(cpt_default_python python3 NO_CACHE)
  foreach(candidate "${cpt_default_python}" /usr/bin/python3)
    execute_process(COMMAND "${candidate}" -c "import numpy" RESULT_VARIABLE cpt_lacks_numpy OUTPUT_QUIET ERROR_QUIET)
    if(NOT cpt_lacks_numpy)
      set(Python3_EXECUTABLE "${candidate}" CACHE FILEPATH "The Python that the module cpt is for")
      break()
    endif()
  endforeach()
endif()
if(NOT Python3_EXECUTABLE)
  message(FATAL_ERROR "CPT_PYTHON needs a Python that has numpy (Debian: python3-numpy); -DPython3_EXECUTABLE names another")
endif()
execute_process(COMMAND "${Python3_EXECUTABLE}" -c "import numpy" RESULT_VARIABLE cpt_lacks_numpy OUTPUT_QUIET ERROR_QUIET)
if(cpt_lacks_numpy)
  message(FATAL_ERROR "CPT_PYTHON: ${Python3_EXECUTABLE} has no numpy (Debian: python3-numpy); -DPython3_EXECUTABLE names another")
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
find_path(CPT_PYBIND11 pybind11/pybind11.h REQUIRED)  # Debian: pybind11-dev

# Below the prefix. Debian's Python looks there both in /usr and in /usr/local.
set(cpt_packages site-packages)
if(EXISTS /etc/debian_version)
  set(cpt_packages dist-packages)
endif()
set(CPT_PYTHON_FOLDER "lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/${cpt_packages}" CACHE STRING
  "Where the Python package is installed, below the prefix")
