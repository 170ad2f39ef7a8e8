#include "app/shared/parse_reason.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace cpt {

namespace {

constexpr std::string_view kSection = ".++";  // what CLI11 calls the beginning of one

// Which line of a config file begins with the name of the option; 0 where none does.
std::uint64_t line_of(const std::string& file, const std::string& option) {
  std::ifstream lines(file);
  std::uint64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, option.size(), option) != 0) continue;
    const std::size_t end = line.find_first_not_of(" \t\r", begin + option.size());
    if (end == std::string::npos || line[end] == '=') return number;
  }
  return 0;
}

std::string place_in(const std::string& file, std::uint64_t line) {
  return line == 0 ? file : file + ":" + std::to_string(line);
}

// The name, without its dashes, of the first option that a text names.
std::string first_option_in(const std::string& text) {
  const std::size_t dashes = text.find("--");
  if (dashes == std::string::npos) return "";
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", dashes);
  return text.substr(dashes + 2, end == std::string::npos ? end : end - dashes - 2);
}

bool names(const std::vector<std::string>& words, const std::string& option) {
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return word == option || word.starts_with(option + "="); });
}

// A lone dash is standard input, and what goes on with a digit may be a number.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

}  // namespace

void require_values(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw CLI::ArgumentMismatch(word.substr(0, word.size() - 1) + " is empty");
    }
  }
}

std::string reason_of(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  const std::string unknown = "INI was not able to parse ";
  if (text.starts_with(unknown)) {
    const std::string option = text.substr(unknown.size());
    const std::string file = app.get_config_ptr()->as<std::string>();
    if (option.ends_with(kSection)) {
      return file + ": there is no section [" + option.substr(0, option.size() - kSection.size()) + "]";
    }
    return place_in(file, line_of(file, option)) + ": there is no option '" + option + "'";
  }
  for (const std::string& word : app.remaining(true)) {
    if (is_option(word)) return "no option '" + word.substr(0, word.find('=')) + "'";
  }
  const std::string unconverted = "Could not convert: ";
  const std::size_t equals = text.find(" = ");
  if (text.starts_with(unconverted) && equals != std::string::npos) {
    return text.substr(unconverted.size(), equals - unconverted.size()) + ": '" + text.substr(equals + 3) +
           "' is not a value that it takes";
  }
  if (const std::size_t end = text.find(": At Most 1 required"); end != std::string::npos) {
    return text.substr(0, end) + " is given more than once";
  }
  return text;
}

std::string place_in_config(const CLI::App& app, const std::vector<std::string>& words, const std::string& reason) {
  const std::string option = first_option_in(reason);
  if (option.empty() || names(words, "--" + option) || app.get_config_ptr()->count() == 0) return "";
  const std::string file = app.get_config_ptr()->as<std::string>();
  const std::uint64_t line = line_of(file, option);
  return line == 0 ? "" : place_in(file, line) + ": ";
}

}  // namespace cpt
