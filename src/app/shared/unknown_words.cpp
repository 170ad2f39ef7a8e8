#include "app/shared/unknown_words.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "api/options/option_table.h"

namespace cpt {

namespace {

// Levenshtein's distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // distances from the first i characters of `a` to each prefix of `b`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

// "--bits=24" is bits.
std::string_view bare_name(std::string_view word) {
  word = word.substr(0, word.find('='));
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// Whether `name`, with its dashes, is an option of training that the model of a command keeps.
bool comes_from_model(const CLI::App& command, std::string_view name) {
  if (command.get_option_no_throw("--model") == nullptr) return false;
  return std::ranges::any_of(training_option_table(), [name](const TrainingOptionRow& row) {
    return row.binding.of_model && (name == std::string("--") + row.name || name == std::string("--") + row.also);
  });
}

// A message about the first word that is such an option; empty if none is.
std::string describe_option_of_model(const CLI::App& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (comes_from_model(command, name)) return name + " comes from the model: leave it out";
  }
  return "";
}

// Advice that begins with an option which the command does not have is about cpt_dist, or about what the model keeps.
std::string fit_to(const CLI::App& command, const std::string& advice) {
  const std::string name = advice.substr(0, advice.find_first_of(" ,;"));
  if (!name.starts_with("--") || command.get_option_no_throw(name) != nullptr) return advice;
  return comes_from_model(command, name) ? "leave it out, it comes from the model" : "cpt_dist " + advice;
}

}  // namespace

std::string suggest_name(std::string_view word, const std::vector<std::string>& names, const std::string& dashes) {
  constexpr std::size_t kMostEdits = 2;
  constexpr std::size_t kShortestBeginning = 3;
  std::pair<std::size_t, std::size_t> least{std::min(kMostEdits, word.size() / 2), ~std::size_t{0}};
  const std::string* nearest = nullptr;
  for (const std::string& name : names) {
    const bool begins = word.size() >= kShortestBeginning && name.starts_with(word);
    const std::pair distance{begins ? 0 : edit_distance(word, name), name.size()};
    if (distance >= least) continue;
    least = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : "; did you mean " + dashes + *nearest + "?";
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

std::string describe_unknown_words(const CLI::App& command, const std::vector<std::string>& words, Program program) {
  AdviceFit fit;
  if (program == Program::kCpt) fit = [&command](const std::string& advice) { return fit_to(command, advice); };
  for (std::string hint :
       {describe_option_of_model(command, words), describe_other_tools_option(words, program, fit)}) {
    if (!hint.empty()) return hint;
  }
  std::string text = "not expected:";
  for (const std::string& word : words) text += " " + word;
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  const auto option = std::ranges::find_if(words, is_option);
  return option == words.end() ? text : text + suggest_name(bare_name(*option), option_names(command), "--");
}

}  // namespace cpt
