#include "api/options/model_option_words.h"

#include "api/options/option_table.h"
#include "api/options/option_values.h"
#include "cpt/error.h"

namespace cpt {

namespace {

const TrainingOptionRow& model_option(const std::string& name) {
  std::string known;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (!row.binding.of_model) continue;
    if (name == row.name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(Fault::kUsage, "'" + name + "' is no option of a model; those are " + known);
}

}  // namespace

ModelOptions parse_model_options(const ModelOptionWords& given) {
  TrainingOptions options;
  for (const auto& [name, words] : given) {
    const TrainingOptionRow& row = model_option(name);
    try {
      if (words.empty() && row.words != OptionWords::kEach) throw Error(Fault::kUsage, "expected a value, found none");
      row.binding.set(options, row.words == OptionWords::kOne ? std::vector{join_with_commas(words)} : words);
    } catch (const Error& error) {
      throw Error(error.fault(), name + ": " + error.what());
    }
  }
  if (options.auto_bits) throw Error(Fault::kUsage, "bits: expected a number: auto needs data of a known size");
  if (!options.given_tree.empty()) throw Error(Fault::kUsage, "tree: only cpt_dist starts from a given tree");
  return options.model;
}

ModelOptionWords list_model_options(const ModelOptions& options) {
  TrainingOptions training;
  training.model = options;
  ModelOptionWords list;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (row.binding.of_model) list.push_back({row.name, {row.binding.show(training)}});
  }
  return list;
}

}  // namespace cpt
