#include "app/shared/option_values.h"

#include <charconv>
#include <cmath>

namespace cpt {

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const char* end = text.data() + text.size();
  std::uint64_t count = 0;
  if (const auto whole = std::from_chars(text.data(), end, count); whole.ec == std::errc() && whole.ptr == end) {
    return count;
  }
  constexpr double kBeyond = 18446744073709551616.0;  // 2^64
  double value = 0;
  const auto real = std::from_chars(text.data(), end, value);
  const bool whole = real.ec == std::errc() && real.ptr == end && value >= 0 && value < kBeyond;
  if (!whole || value != std::floor(value)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

namespace {

// Also of what no integer holds.
bool is_number_above(const std::string& text, std::uint64_t most) {
  const char* end = text.data() + text.size();
  double value = 0;
  const auto number = std::from_chars(text.data(), end, value);
  return number.ec == std::errc() && number.ptr == end && value > static_cast<double>(most);
}

}  // namespace

std::uint64_t require_count(const std::string& flag, const std::string& text, std::uint64_t least, std::uint64_t most) {
  const std::optional<std::uint64_t> count = parse_count(text);
  if (count && *count >= least && *count <= most) return *count;
  const std::string range = is_number_above(text, most)
                                ? "from " + std::to_string(least) + " to " + std::to_string(most)
                                : "of at least " + std::to_string(least);
  throw CLI::ValidationError(flag, "'" + text + "' is not a whole number " + range);
}

CLI::Option* add_on_error(CLI::App& app, bool& skip, std::optional<std::uint64_t>& most, const std::string& help) {
  const auto set = [&skip, &most](const std::string& text) {
    constexpr std::string_view kSkip = "skip:";
    most.reset();
    skip = text != "stop";
    if (text == "stop" || text == "skip") return;
    if (text.starts_with(kSkip)) most = parse_count(std::string_view(text).substr(kSkip.size()));
    if (!most) throw CLI::ValidationError("--on-error", "'" + text + "' is none of: stop, skip, skip:N");
  };
  return app.add_option_function<std::string>("--on-error", set, help)
      ->type_name("(stop, skip, skip:N)")
      ->default_str("stop");
}

}  // namespace cpt
