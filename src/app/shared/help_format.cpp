#include "app/shared/help_format.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cpt {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 36;  // where explanations begin

std::string broken(std::string_view line) {
  if (!line.starts_with(' ')) return std::string(line);
  std::string text;
  std::size_t width = kWidth;  // of the piece at hand, without its indent
  while (line.size() > width) {
    const std::size_t space = line.rfind(' ', width);
    if (space == std::string_view::npos) break;
    text.append(line.substr(0, space)).append("\n").append(kColumn, ' ');
    line.remove_prefix(space + 1);
    width = kWidth - kColumn;
  }
  return text.append(line);
}

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const std::string help = Formatter::make_help(app, std::move(name), mode);
    std::string text;
    for (std::size_t at = 0; at < help.size();) {
      const std::size_t end = help.find('\n', at);
      text += broken(std::string_view(help).substr(at, end - at)) + "\n";
      at = end == std::string::npos ? help.size() : end + 1;
    }
    return text;
  }
};

}  // namespace

void lay_out_help(CLI::App& program) {
  const auto format = std::make_shared<HelpFormat>();
  format->column_width(kColumn);
  program.formatter(format);
}

}  // namespace cpt
