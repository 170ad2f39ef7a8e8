// What lies in a folder, to be compared with another.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace cpt {

using Files = std::map<std::string, std::string>;  // content by name

inline Files files_in(const std::filesystem::path& directory) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    files[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(stream), {});
  }
  return files;
}

}  // namespace cpt
