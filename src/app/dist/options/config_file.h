// The file of --config: option = value on each line.
#pragma once

#include <CLI/CLI.hpp>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace cpt {

// Refuses a file without end before it fills the memory, and names the file and the line of what is no option.
class ConfigFile : public CLI::ConfigBase {
 public:
  // `app` has the options, --config among them.
  explicit ConfigFile(const CLI::App& app) : app_(app) {}

  // Throws CLI::ParseError.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  void require_option(const CLI::ConfigItem& item, const std::string& text) const;

  const CLI::App& app_;
};

// Where the option is set that a usage error is about: "FILE:LINE: " if that is the file of --config, and no word of
// the command line gives the option; else empty.
std::string place_in_config(const CLI::App& app, const std::vector<std::string>& words, std::string_view message);

}  // namespace cpt
