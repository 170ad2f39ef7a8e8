// Shared parts of the command lines of both programs: the layout of --help, and options whose values CLI11 does not
// check well enough (it reads -1 as 2^64 - 1 and does not accept 1e6).
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/options/option_values.h"

namespace cpt {

// Applies to the program and to all commands added to it afterwards: the usage line comes first, and explanations are
// wrapped in their column at 100 characters. Descriptions and footers are printed as written.
void set_help_layout(CLI::App& program);

// Moves --help and --version to a last group. Call it when all options have been added.
void add_help_options(CLI::App& program, const std::string& version);

// The text of an error of CLI11, in plain words where its own are not.
std::string usage_text(const CLI::ParseError& error);

// Throws CLI::ParseError if an option is given an empty value, as "--run=" or as an empty argument after it: CLI11
// would take the next argument as the value, or the option as one without a value.
void require_values(const std::vector<std::string>& words);

// Runs `parse`, and turns its Error(kUsage) into the error that CLI11 reports for the option.
template <class Parse>
auto parse_value(const std::string& flag, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw CLI::ValidationError(flag, error.what());
  }
}

// An option whose value is one of `names`.
template <class Choice>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, Choice& choice, const Names<Choice>& names,
                        const std::string& help) {
  const auto set = [flag, &choice, &names](const std::string& word) {
    choice = parse_value(flag, [&] { return parse_choice(names, word); });
  };
  return app.add_option_function<std::string>(flag, set, help)
      ->type_name("(" + words_of(names) + ")")
      ->default_str(name_of(names, choice));
}

// An option whose value is a count in [least, most].
template <std::unsigned_integral Count>
CLI::Option* add_count(CLI::App& app, const std::string& flag, Count& count, std::uint64_t least,
                       const std::string& help, std::uint64_t most = std::numeric_limits<Count>::max()) {
  const auto set = [flag, &count, least, most](const std::string& text) {
    count = static_cast<Count>(parse_value(flag, [&] { return parse_count(text, least, most); }));
  };
  return app.add_option_function<std::string>(flag, set, help)->type_name("N")->default_str(std::to_string(count));
}

// An option that may be repeated, each time with one text, which is taken as it is.
CLI::Option* add_repeated(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                          const std::string& help);

// --on-error: whether bad lines are skipped, and the largest number of skipped lines. With `answer`, the option also
// takes the word "answer", which sets `*answer`: bad lines are skipped, but answered.
CLI::Option* add_on_error(CLI::App& app, bool& skip, std::optional<std::uint64_t>& most, const std::string& help,
                          bool* answer = nullptr);

// Whether a model or a checkpoint is there.
bool is_blob_set(const std::filesystem::path& path);

// Throws Error(kUsage) if one of the paths is a run directory, a model or a checkpoint instead of data. `option`: the
// option, or argument, that names them.
void require_data(const char* option, const std::vector<std::string>& paths);

// Throws Error(kNoInput) if `model` is a run directory instead of the model in it, and names that model if there is
// one. Other mistakes are found when the model is read.
void require_no_run_around_model(const std::filesystem::path& model);

// --columns, --multilabel, --interactions, --ngrams, and the options of keys and columns
void add_columns(CLI::App& app, std::vector<std::string>& columns);
CLI::Option* add_multilabel(CLI::App& app, MultiLabel& multilabel);
CLI::Option* add_interactions(CLI::App& app, std::vector<std::string>& interactions);
CLI::Option* add_ngrams(CLI::App& app, std::vector<std::string>& ngrams);
void add_field_roles(CLI::App& app, FieldRoles& roles);

}  // namespace cpt
