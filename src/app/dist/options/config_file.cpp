#include "app/dist/options/config_file.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "app/shared/unknown_words.h"

namespace cpt {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Line {
  std::size_t number = 0;  // 0: not found
  std::string text;
};

// The first line with an option or section of this name, with or without dashes. CLI11 does not report the lines of its
// items.
Line find_line(const std::string& text, std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::istringstream lines(text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0));
  Line line;
  for (std::size_t number = 1; std::getline(lines, line.text); ++number) {
    CLI::detail::trim(line.text);
    const std::size_t begin = std::min(line.text.find_first_not_of("[\"'-"), line.text.size());
    const std::string_view rest = std::string_view(line.text).substr(begin);
    if (!rest.starts_with(name)) continue;
    const std::size_t end = rest.find_first_not_of(" \t\"'", name.size());
    if (end == std::string_view::npos || std::string_view("=].#").find(rest[end]) != std::string_view::npos) {
      line.number = number;
      return line;
    }
  }
  return {};
}

// The option that a message is about: the first one that it names with dashes, or its first word, even without dashes.
const CLI::Option* find_option(const CLI::App& app, std::string_view message) {
  std::istringstream words{std::string(message)};
  bool is_first = true;
  for (std::string word; words >> word; is_first = false) {
    word.resize(std::min(word.find(':'), word.size()));
    if (is_first && !word.starts_with("--")) word.insert(0, "--");
    if (!word.starts_with("--")) continue;
    if (const CLI::Option* const option = app.get_option_no_throw(word)) return option;
  }
  return nullptr;
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  std::string text(kMostBytes + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() > kMostBytes) {
    throw CLI::FileError("--config: the file has more than " + std::to_string(kMostBytes) + " bytes, or no end",
                         CLI::ExitCodes::FileError);
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  std::istringstream bounded(text);
  std::vector<CLI::ConfigItem> parsed = ConfigBase::from_config(bounded);
  for (const CLI::ConfigItem& item : parsed) require_option(item, text);
  return parsed;
}

// Names in a file usually lack the dashes.
void ConfigFile::require_option(const CLI::ConfigItem& item, const std::string& text) const {
  const std::string& name = item.parents.empty() ? item.name : item.parents.front();
  const std::vector<std::string> spellings{name, "--" + name, "-" + name, name + "="};
  const CLI::Option* ours = nullptr;
  for (const std::string& word : spellings) ours = ours != nullptr ? ours : app_.get_option_no_throw(word);
  if (item.parents.empty() && ours != nullptr && ours->get_configurable()) return;
  const Line line = find_line(text, name);
  const std::string file = app_.get_config_ptr()->as<std::string>();
  const std::string place = line.number == 0 ? file : file + ":" + std::to_string(line.number);
  const auto fail = [&](const std::string& reason) {
    throw CLI::ConfigError(place + ": " + reason, CLI::ExitCodes::ConfigError);
  };
  if (item.parents.empty() && ours != nullptr) fail("'" + name + "' is for the command line only");
  const std::string hint = describe_other_tools_option(spellings, Program::kCptDist);
  if (!hint.empty() && item.parents.empty()) fail(hint);
  if (line.number > 0 && line.text.find('=') == std::string::npos) {
    fail("expected option = value, found '" + line.text + "'");
  }
  fail("no option '" + name + "'" + suggest_name(name, option_names(app_)));
}

std::string place_in_config(const CLI::App& app, const std::vector<std::string>& words, std::string_view message) {
  const CLI::Option* const config = app.get_config_ptr();
  const CLI::Option* const option = find_option(app, message);
  if (config->count() == 0 || option == nullptr) return "";
  const auto gives_it = [&](const std::string& word) { return option->check_name(word.substr(0, word.find('='))); };
  if (std::ranges::any_of(words, gives_it)) return "";
  const std::string file = config->as<std::string>();
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return "";  // a pipe cannot be read again
  std::ifstream input(file);
  const std::string text(std::istreambuf_iterator<char>(input), {});
  for (const std::string& name : option->get_lnames()) {
    const Line line = find_line(text, name);
    if (line.number > 0) return file + ":" + std::to_string(line.number) + ": ";
  }
  return "";
}

}  // namespace cpt
