#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/explanation/explanation.h"
#include "api/explanation/feature_names.h"
#include "app/cpt/commands.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "app/shared/figures_json.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "model/learning/learner.h"

namespace cpt {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kExplainFooter =
    R"(For each example, prints its place in the input, its label and P(label | x); then one row per node
on the path of the label: the depth, the side taken, P(side), and the features with the largest
contributions. The product of the P(side) is P(label | x); of several trees, each has rows of its
own, and P(label | x) is the mean. A contribution is weight * value, positive if it favors the side
taken; all contributions add up to the node's margin. If nodes are calibrated, P(side) = 1 / (1 +
exp(-1.05 s)) with s = a * margin + b + c * rare margin: the columns show a, b, c and both margins
towards the side taken. The rare margin weighs features by their rarity. Contributions are then
shares of s - b: what rarity adds is part of them. Features are printed as NAMESPACE^NAME,
interactions as AB^NAME*NAME, the constant feature as (constant), and features of binary shards,
which hold no names, as hashes. If a line has no label, its most probable label is explained; with
--label, the labels that it names are explained in place of the line's own.

In nodes with K > 2 branches, the side is a column of the node's code, and a contribution is 2 / K
times what the feature adds to the margins of rows that contain the column, minus what it adds to
the others. A one-against-all model has no paths: its single row shows the estimate of the label's
regressor before normalization and the contributions to its margin.

With --json an explanation is an object on a line: {"line": "test.vw:1", "label": "a",
"probability": 0.5, "trees": [{"probability": 0.5, "steps": [{"depth": 0, "side": "L",
"probability": 0.5, "calibration": {"a", "b", "c", "margin", "rare_margin"}, "contributions":
[{"feature": "page^w1", "value": 0.7}]}]}]}, or, without paths, "estimate" and "contributions".
"label" is null if there is none, "probability" if the model does not know the label.

Example:
  cpt explain --model runs/ads/model --data test.vw --top 3)";

struct ExplainOptions {
  CommandInput input;
  std::uint64_t top = 5;
  std::vector<std::string> label;
  bool json = false;
};

Json contributions_json(const std::vector<Contribution>& parts, const FeatureNames& names) {
  Json json = Json::array();
  for (const Contribution& part : parts) {
    json.push_back({{"feature", names.name(part.feature)}, {"value", part.value}});
  }
  return json;
}

Json step_json(const ExplainedStep& step, const FeatureNames& names) {
  Json json{{"depth", step.depth}, {"side", step.side}, {"probability", step.probability}};
  if (const auto& terms = step.calibration) {
    json["calibration"] = {{"a", terms->a},
                           {"b", terms->b},
                           {"c", terms->c},
                           {"margin", terms->margin},
                           {"rare_margin", terms->rare_margin}};
  }
  json["contributions"] = contributions_json(step.contributions, names);
  return json;
}

void add_to(Json& json, const Explanation& explanation, const FeatureNames& names) {
  if (explanation.trees.empty()) {
    json["estimate"] = explanation.estimate;
    json["contributions"] = contributions_json(explanation.contributions, names);
    return;
  }
  json["trees"] = Json::array();
  for (const ExplainedTree& tree : explanation.trees) {
    Json steps = Json::array();
    for (const ExplainedStep& step : tree.steps) steps.push_back(step_json(step, names));
    json["trees"].push_back({{"probability", tree.probability}, {"steps", std::move(steps)}});
  }
}

// Prints explanations, one example at a time.
class ExplanationPrinter {
 public:
  ExplanationPrinter(const Learner& learner, const FeatureNames& names, const ExplainOptions& options,
                     ResultWriter& out)
      : learner_(learner), names_(names), top_(options.top), json_(options.json), out_(out) {}

  // Explains the label of x, or the most probable one if x has none.
  void print(const std::string& place, const ExampleView& x) {
    if (!x.label.empty()) return print(place, x, learner_.find(x), x.label);
    const std::vector<Ranked> best = learner_.top_k(x, 1);
    if (best.empty()) return print_nothing(place, "", "no label, and none in the model");
    print(place, x, best.front().label, "", "  (no label on the line: the most probable one)");
  }

  // Explains `label`, which is kNoLabel if the model does not know `name`.
  void print(const std::string& place, const ExampleView& x, LabelId label, std::string_view name,
             const char* remark = "") {
    if (label == kNoLabel) return print_nothing(place, name, "not in the model");
    const Explanation explanation = explain(learner_, x, label, top_);
    if (json_) {
      Json json{{"line", place}, {"label", learner_.labels().name(label)}, {"probability", explanation.probability}};
      add_to(json, explanation, names_);
      return out_.print("{}\n", json_text(json, -1));
    }
    out_.print("{}  {}  P = {:.6g}{}\n", place, learner_.labels().name(label), explanation.probability, remark);
    if (explanation.trees.empty()) {
      out_.print("  estimate  contributions\n  {:<8.6f}", explanation.estimate);
      print_contributions(explanation.contributions);
    }
    for (std::size_t t = 0; t < explanation.trees.size(); ++t) {
      if (explanation.trees.size() > 1) {
        out_.print("  tree {}: P = {:.6g}\n", t + 1, explanation.trees[t].probability);
      }
      print_steps(explanation.trees[t].steps);
    }
  }

 private:
  // `name`: of a label that the model does not know; empty if there is none.
  void print_nothing(const std::string& place, std::string_view name, const char* reason) {
    if (!json_) return out_.print("{}{}{}  {}\n", place, name.empty() ? "" : "  ", name, reason);
    Json json{{"line", place}, {"label", nullptr}, {"probability", nullptr}};
    if (!name.empty()) json["label"] = name;
    out_.print("{}\n", json_text(json, -1));
  }

  void print_contributions(const std::vector<Contribution>& parts) {
    for (const Contribution& part : parts) out_.print("  {} {:+.4g}", names_.name(part.feature), part.value);
    out_.print("\n");
  }

  void print_steps(const std::vector<ExplainedStep>& steps) {
    if (steps.empty()) return;
    out_.print("  depth  side  P(side)   {}contributions\n",
               steps.front().calibration ? "a       b        c       margin   rare margin  " : "");
    for (const ExplainedStep& step : steps) {
      out_.print("  {:>5}  {:<4}  {:<8.6f}", step.depth, step.side, step.probability);
      if (const auto& terms = step.calibration) {
        out_.print("  {:<6.4f}  {:<+7.4f}  {:<6.4f}  {:<+7.4g}  {:<+11.4g}", terms->a, terms->b, terms->c,
                   terms->margin, terms->rare_margin);
      }
      print_contributions(step.contributions);
    }
  }

  const Learner& learner_;
  const FeatureNames& names_;
  std::uint64_t top_;
  bool json_;
  ResultWriter& out_;
};

// Throws Error(kUsage) if labels are named, and the model knows none of them.
void require_known_label(const std::vector<std::string>& names, const Learner& learner) {
  std::string listed;
  for (const std::string& name : names) {
    if (learner.labels().find(name, hash_label(name)) != kNoLabel) return;
    listed += (listed.empty() ? "" : ", ") + quote(name);
  }
  if (!names.empty()) throw Error(Fault::kUsage, "no label " + listed + " in the model");
}

void run_explain(const ExplainOptions& options) {
  FeatureNames names;
  const auto remember = [&names](FeatureHash feature, std::string_view name_space, std::string_view name) {
    names.add(feature, name_space, name);
  };
  OpenInput input(options.input, {.labels_required = false, .every_line = true, .on_feature = remember});
  require_explainable(input.model().options());
  ResultWriter out;
  input.on_input_idle([&out] { out.flush(); });
  const Learner& learner = input.model().learner();
  require_known_label(options.label, learner);
  ExplanationPrinter printer(learner, names, options, out);
  while (const Batch* line = input.next()) {
    const std::string place = input.place_of(input.line());
    // The examples of a line differ in their labels alone.
    const std::size_t examples = options.label.empty() ? line->size() : std::min<std::size_t>(line->size(), 1);
    for (std::size_t i = 0; i < examples; ++i) {
      const ExampleView x = (*line)[i];
      if (options.label.empty()) printer.print(place, x);
      for (const std::string& name : options.label) {
        printer.print(place, x, learner.labels().find(name, hash_label(name)), name);
      }
    }
    names.clear();
  }
  input.report_all_skipped();
  out.finish();
}

void declare(CLI::App& command, ExplainOptions& options) {
  add_input_options(command, options.input);
  add_count(command, "--top", options.top, 0, "Number of features per node");
  add_repeated(command, "--label", options.label, "Explain this label, in place of the line's own")->type_name("NAME");
  command.add_flag("--json", options.json, "Print a JSON object for each explanation");
}

}  // namespace

void add_explain_command(CLI::App& program, Action& action) {
  add_command<ExplainOptions>(program, action, "explain", "Shows why a label has the probability that it has.",
                              kExplainFooter, declare, run_explain);
}

}  // namespace cpt
