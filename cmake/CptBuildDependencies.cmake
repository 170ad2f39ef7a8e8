# What only building this project needs: headers that its sources include, and the libraries of its programs.
foreach(package cereal CLI11 spdlog fmt nlohmann_json)
  find_package(${package} REQUIRED)
endforeach()
