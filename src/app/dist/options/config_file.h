// The file of --config: option = value on each line.
#pragma once

#include <CLI/CLI.hpp>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace cpt {

// Refuses an endless file before it fills the memory, and names file and line of anything that is not an option.
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

// "FILE:LINE: " of the option that a usage error is about, if the file of --config sets it and the command line does
// not; else empty.
std::string place_in_config(const CLI::App& app, const std::vector<std::string>& words, std::string_view message);

}  // namespace cpt
