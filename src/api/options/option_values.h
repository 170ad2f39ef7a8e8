// How users write the values of options: words for choices, counts such as 1e6, and the policy for bad lines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/error.h"
#include "cpt/input.h"
#include "cpt/options.h"
#include "cpt/trainer.h"

namespace cpt {

// The words for the values of an enum. One table serves parsing, --help and printing.
template <class Choice>
using Names = std::map<std::string, Choice>;

const Names<Format>& format_names();
const Names<MultiLabel>& multilabel_names();
const Names<Method>& method_names();
const Names<TreeKind>& tree_names();  // without kGiven, which users choose by naming a file
const Names<Loss>& loss_names();
const Names<Update>& update_names();
const Names<Normalize>& normalize_names();
const Names<bool>& switch_names();
const Names<Placement>& placement_names();
const Names<MergeRule>& merge_names();
const Names<Metric>& metric_names();

// The word for a choice.
template <class Choice>
std::string name_of(const Names<Choice>& names, Choice choice) {
  for (const auto& [name, value] : names) {
    if (value == choice) return name;
  }
  return "?";
}

// The word for a kind of tree; "given" for kGiven.
std::string name_of_tree(TreeKind tree);

// "vw, libsvm, ...", for --help.
template <class Choice>
std::string words_of(const Names<Choice>& names) {
  std::string words;
  for (const auto& [name, value] : names) words += (words.empty() ? "" : ", ") + name;
  return words;
}

// The parsers below throw Error(kUsage) that quotes the text and states what was expected, but does not name the
// option.

template <class Choice>
Choice parse_choice(const Names<Choice>& names, const std::string& word) {
  const auto found = names.find(word);
  if (found == names.end()) throw Error(Fault::kUsage, "'" + word + "' is none of: " + words_of(names));
  return found->second;
}

// A whole number, also written as 1e6; nullopt if the text is not one.
std::optional<std::uint64_t> parse_count(std::string_view text);
// The same, in [least, most].
std::uint64_t parse_count(const std::string& text, std::uint64_t least, std::uint64_t most);

double parse_number(const std::string& text);
// "a,b"; throws for an empty part.
std::vector<std::string> split_at_commas(const std::string& text);
std::string join_with_commas(const std::vector<std::string>& parts);

// What --help of both programs says of --columns.
inline constexpr const char* kColumnsHelp =
    "Names of the columns of csv files without a header, in their order; all text is then csv, if --format is auto";

// What to do at a bad line: stop, skip all of them, or skip up to N.
struct BadLinePolicy {
  bool skip = false;
  std::optional<std::uint64_t> most;  // no limit if empty
};
inline constexpr const char* kBadLineWords = "stop, skip, skip:N";
BadLinePolicy parse_bad_line_policy(const std::string& text);
std::string bad_line_policy_text(bool skip, std::optional<std::uint64_t> most);
// The error to throw if all ranks together skipped more than `most` lines.
std::optional<Error> excess_of_bad_lines(std::uint64_t skipped, std::optional<std::uint64_t> most);

}  // namespace cpt
