// Options whose values need more care than CLI11 takes: it reads -1 as 2^64 - 1, and knows no 1e6.
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace cpt {

// A whole number, also as 1e6; nothing if the text is not one.
std::optional<std::uint64_t> parse_count(std::string_view text);

// The count, or CLI::ValidationError of the option `flag` if the text is not one in [least, most].
std::uint64_t require_count(const std::string& flag, const std::string& text, std::uint64_t least, std::uint64_t most);

// An option whose value is a count of at least `least`.
template <std::unsigned_integral Count>
CLI::Option* add_count(CLI::App& app, const std::string& flag, Count& count, std::uint64_t least,
                       const std::string& help) {
  const auto set = [&count, least, flag](const std::string& text) {
    count = static_cast<Count>(require_count(flag, text, least, std::numeric_limits<Count>::max()));
  };
  return app.add_option_function<std::string>(flag, set, help)->type_name("N")->default_str(std::to_string(count));
}

// --on-error stop|skip|skip:N: whether bad lines are skipped, and how many at most if there is a limit.
CLI::Option* add_on_error(CLI::App& app, bool& skip, std::optional<std::uint64_t>& most, const std::string& help);

}  // namespace cpt
