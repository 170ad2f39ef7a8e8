#include "api/options/model_option_words.h"

#include <algorithm>

#include "api/options/option_table.h"
#include "api/options/option_values.h"
#include "cpt/error.h"

namespace cpt {

namespace {

std::string spelled(std::string name, char dash) {
  std::ranges::replace(name, '-', dash);
  return name;
}

const TrainingOptionRow& model_option(const std::string& name, char dash) {
  std::string known;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (!row.binding.of_model) continue;
    const std::string its_name = spelled(row.name, dash);
    if (name == its_name) return row;
    known += (known.empty() ? "" : ", ") + its_name;
  }
  throw Error(Fault::kUsage, "'" + name + "' is no option of a model; those are " + known);
}

}  // namespace

ModelOptions parse_model_options(const ModelOptionWords& given, char dash) {
  TrainingOptions options;
  for (const auto& [name, words] : given) {
    const TrainingOptionRow& row = model_option(name, dash);
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

ModelOptionWords list_model_options(const ModelOptions& options, char dash) {
  TrainingOptions training;
  training.model = options;
  ModelOptionWords list;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (row.binding.of_model) list.push_back({spelled(row.name, dash), {row.binding.show(training)}});
  }
  return list;
}

}  // namespace cpt
