# The dependencies of the sources and programs that users of the installed libraries do not need.
foreach(package cereal CLI11 spdlog fmt nlohmann_json)
  find_package(${package} REQUIRED)
endforeach()
