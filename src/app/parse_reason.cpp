#include "app/parse_reason.h"

#include <cstdint>
#include <fstream>
#include <string_view>

namespace cpt {

namespace {

constexpr std::string_view kSection = ".++";  // what CLI11 calls the beginning of one

// "FILE:LINE" of the option, or "FILE" where no line begins with its name.
std::string place_in(const std::string& file, const std::string& option) {
  std::ifstream lines(file);
  std::uint64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, option.size(), option) != 0) continue;
    const std::size_t end = line.find_first_not_of(" \t\r", begin + option.size());
    if (end == std::string::npos || line[end] == '=') return file + ":" + std::to_string(number);
  }
  return file;
}

}  // namespace

std::string reason_of(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  const std::string unknown = "INI was not able to parse ";
  if (text.starts_with(unknown)) {
    const std::string option = text.substr(unknown.size());
    const std::string file = app.get_config_ptr()->as<std::string>();
    if (option.ends_with(kSection)) {
      return file + ": there is no section [" + option.substr(0, option.size() - kSection.size()) + "]";
    }
    return place_in(file, option) + ": there is no option '" + option + "'";
  }
  if (const std::size_t end = text.find(": At Most 1 required"); end != std::string::npos) {
    return text.substr(0, end) + " is given more than once";
  }
  return text;
}

}  // namespace cpt
