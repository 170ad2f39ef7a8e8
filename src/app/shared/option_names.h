// The words by which users choose, and what they mean: one table per choice, for parsing, --help and printing alike.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cpt/input.h"
#include "cpt/options.h"
#include "cpt/trainer.h"

namespace cpt {

template <class Choice>
using Names = std::map<std::string, Choice>;

const Names<Format>& format_names();
const Names<MultiLabel>& multilabel_names();
const Names<Method>& method_names();
const Names<TreeKind>& tree_names();  // but for a given tree, which is chosen by its file
const Names<Loss>& loss_names();
const Names<Update>& update_names();
const Names<Normalize>& normalize_names();
const Names<Placement>& placement_names();
const Names<MergeRule>& merge_names();

// The word for a choice.
template <class Choice>
std::string name_of(const Names<Choice>& names, Choice choice) {
  for (const auto& [name, value] : names) {
    if (value == choice) return name;
  }
  return "?";
}

// The word for a kind of tree; "given" for that which tree_names() lacks.
std::string name_of_tree(TreeKind tree);

// "vw, libsvm, ...", for --help.
template <class Choice>
std::string words_of(const Names<Choice>& names) {
  std::string words;
  for (const auto& [name, value] : names) words += (words.empty() ? "" : ", ") + name;
  return words;
}

// An option whose value is one of the words; anything else is a usage error that lists them.
template <class Choice>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, Choice& choice, const Names<Choice>& names,
                        const std::string& help) {
  const auto set = [flag, &choice, &names](const std::string& word) {
    const auto found = names.find(word);
    if (found == names.end()) throw CLI::ValidationError(flag, "'" + word + "' is none of: " + words_of(names));
    choice = found->second;
  };
  return app.add_option_function<std::string>(flag, set, help)
      ->type_name("(" + words_of(names) + ")")
      ->default_str(name_of(names, choice));
}

// --multilabel
CLI::Option* add_multilabel(CLI::App& app, MultiLabel& multilabel);

}  // namespace cpt
