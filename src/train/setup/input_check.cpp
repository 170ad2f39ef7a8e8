#include "train/setup/input_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/input_fit.h"
#include "api/options/option_values.h"
#include "data/pipeline/first_look.h"
#include "train/input/read_options.h"

namespace cpt {

namespace {

// Binary shards hold the features that such options made of the fields of their text.
bool has_fields(Format format) {
  return format == Format::kJson || format == Format::kCsv || format == Format::kBinary;
}

// Warns of options that have no effect on these lines.
void warn_of_names(const FirstLook& look, const std::string& input, RunSetup& setup) {
  if (!has_fields(look.format) && setup.options.model.fields != FieldRoles{}) {
    setup.warnings.push_back(input + ": is " + name_of(format_names(), look.format) +
                             ", where no options of keys or columns, such as --label-key, have an effect");
  }
  for (const auto& missing : {look.missing_keys, look.missing_ignored, look.missing_name_spaces}) {
    for (const std::string& name : missing) setup.warnings.push_back(warning_of_missing(look, input, name));
  }
}

void warn_of_labels(const FirstLook& look, const std::string& input, RunSetup& setup) {
  if (look.several_labels > 0 && setup.options.multilabel == MultiLabel::kFirst) {
    setup.warnings.push_back(warning_of_several_labels(look, input));
  }
  if (2 * look.lists_as_label > look.lines) {
    setup.warnings.push_back(input + ": " + std::to_string(look.lists_as_label) + " of the first " +
                             std::to_string(look.lines) + " lines have a label like '" + look.list_as_label +
                             "', which is one label in vw lines; several labels in a line, and --multilabel, are for "
                             "libsvm, fasttext and json; costs, as of bandits, are not read");
  }
}

// Checks the shard from which the run learns first, or which it predicts first if it learns from none.
void check_first_shard(const Shard& shard, RunSetup& setup) {
  const std::string input = input_name(shard.path);
  FirstLook look = look_at(shard, read_options(setup.options));
  if (look.format == Format::kAuto) return;
  look.profile.format = name_of(format_names(), look.format);
  if (look.is_dubious()) setup.warnings.push_back(look.bare.warning(look.format));
  warn_of_labels(look, input, setup);
  warn_of_names(look, input, setup);
  if (has_met(*setup.learner, look.features) == false) {
    setup.warnings.push_back(warning_of_misfit(*setup.learner, input + ", " + describe(look.profile)));
  }
  if (setup.options.learns()) {
    for (std::string& warning : look.check.warnings(input, look.format)) setup.warnings.push_back(std::move(warning));
  }
  if (setup.options.learns() && setup.options.model.calibrates()) {
    std::string warning = warning_of_importances(look.importances, input);
    if (!warning.empty()) setup.warnings.push_back(std::move(warning));
  }
  const bool is_new_model = setup.options.init.empty() && !setup.state;
  if (is_new_model) setup.learner->set_input(std::move(look.profile));
}

void check_names(const Shard& shard, RunSetup& setup) {
  const FirstLook look = look_at(shard, read_options(setup.options));
  if (look.format != Format::kAuto) warn_of_names(look, input_name(shard.path), setup);
}

}  // namespace

void check_input(const std::vector<Shard>& data, const std::vector<Shard>& test, const std::vector<Shard>& validation,
                 RunSetup& setup) {
  std::vector<Shard> checked;
  for (const auto* shards : {&data, &test, &validation}) {
    if (shards->empty()) continue;
    const Shard& shard = shards->front();
    if (std::ranges::any_of(checked, [&](const Shard& other) { return is_one_file(shard, other); })) continue;
    checked.empty() ? check_first_shard(shard, setup) : check_names(shard, setup);
    checked.push_back(shard);
  }
}

}  // namespace cpt
