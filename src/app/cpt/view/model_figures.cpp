#include "app/cpt/view/model_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "api/input_fit.h"
#include "api/options/option_values.h"
#include "api/tree_figures.h"
#include "app/shared/figures_json.h"
#include "core/number_text.h"
#include "cpt/options.h"
#include "cpt/trainer.h"
#include "model/tree/bounds.h"

namespace cpt {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kRowsPerMib = static_cast<double>(std::size_t{1} << 20) / sizeof(Row);

// The largest values that trees with this number of labels can have; see model/tree/bounds.h.
struct TreeBounds {
  double depth_max = 0;
  double depth_mean = 0;
  double disagreements = 0;
};

struct ShownFigures {
  TreeFigures tree;
  std::optional<TreeBounds> bounds;  // none for a random or an empty tree
  std::uint64_t nodes = 0;
  std::uint64_t blocks = 0;
  std::vector<std::uint64_t> labels_at_depth;  // by depth, up to the largest; empty for an empty tree
  std::uint64_t weight_rows = 0;
  WeightTable::Survey weights;
  std::uint64_t counted_examples = 0;  // method `table` only: number of distinct x
  std::uint64_t counted_pairs = 0;     // ... and of distinct (x, label)
  std::uint64_t state_digest = 0;      // of weights or frequencies
  ModelOptions options;
};

std::optional<TreeBounds> tree_bounds(const TreeFigures& tree, const ModelOptions& options) {
  if (tree.labels == 0 || !options.bounds_shape()) return std::nullopt;
  TreeBounds bounds{.depth_max = tree.depth_bound};
  for (std::size_t t = 0; t < tree.trees; ++t) {
    const double alpha = options.of_tree(t).effective_alpha();
    bounds.depth_mean += total_depth_bound(tree.labels, alpha) / static_cast<double>(tree.labels * tree.trees);
    bounds.disagreements += disagreement_bound(tree.labels, alpha);
  }
  return bounds;
}

ShownFigures measure_model(const Learner& learner) {
  ShownFigures figures;
  figures.options = learner.options();
  figures.tree = measure_tree(learner);
  figures.bounds = tree_bounds(figures.tree, figures.options);
  if (!figures.tree.is_flat) {
    for (const Tree& tree : learner.trees()) {
      figures.nodes += tree.empty() ? 0 : tree.labels() - 1;
      figures.blocks += tree.blocks();
    }
    figures.labels_at_depth = leaves_by_depth(learner.trees());
  }
  figures.weight_rows = learner.weights().rows();
  figures.weights = learner.weights().survey();
  figures.counted_examples = learner.frequencies().keys();
  figures.counted_pairs = learner.frequencies().pairs();
  figures.state_digest = figures.weights.digest + learner.frequencies().digest() + learner.feature_counts().digest();
  return figures;
}

double used_part(const ShownFigures& figures) {
  return static_cast<double>(figures.weights.used) / static_cast<double>(figures.weight_rows);
}

// The bound, as it is printed after a value.
std::string bound_text(const ShownFigures& figures, double TreeBounds::*bound) {
  if (figures.tree.labels == 0) return "";
  if (!figures.bounds) return " (no bound is known)";
  return fmt::format(" (bound {:.1f})", *figures.bounds.*bound);
}

Json bound_json(const ShownFigures& figures, double TreeBounds::*bound) {
  return figures.bounds ? Json(*figures.bounds.*bound) : Json();
}

Json options_json(const ModelOptions& options) {
  return {{"method", name_of(method_names(), options.method)},
          {"arity", options.arity},
          {"tree", name_of_tree(options.tree)},
          {"alpha", options.alpha},
          {"trees", options.trees},
          {"loss", name_of(loss_names(), options.loss)},
          {"update", name_of(update_names(), options.update)},
          {"calibrate", name_of(switch_names(), options.calibrate)},
          {"rarity", name_of(switch_names(), options.rarity)},
          {"learning-rate", options.learning_rate},
          {"clip", options.clip},
          {"bits", options.bits},
          {"seed", options.seed},
          {"normalize", name_of(normalize_names(), options.normalize)},
          {"interactions", options.interactions},
          {"ngrams", options.ngrams},
          {"label-key", options.fields.label},
          {"importance-key", options.fields.importance},
          {"text-keys", options.fields.text},
          {"categorical-keys", options.fields.categorical},
          {"ignore-keys", options.fields.ignored}};
}

// What the model was trained on; null if it is not known.
Json input_json(const InputProfile& profile) {
  if (profile.empty()) return {};
  return {{"format", profile.format}, {"namespaces", profile.name_spaces}, {"features", profile.features}};
}

// Whether the option has an effect on a model of this method; those of keys and columns, whether they are given.
bool applies(const std::string& option, const ModelOptions& options) {
  if (option == "ngrams") return !options.ngrams.empty();
  if (option == "label-key") return options.fields != FieldRoles{};
  if (option == "importance-key") return !options.fields.importance.empty();
  if (option == "text-keys") return !options.fields.text.empty();
  if (option == "categorical-keys") return !options.fields.categorical.empty();
  if (option == "ignore-keys") return !options.fields.ignored.empty();
  if (option == "arity") return options.method == Method::kConditionalPecoc;
  if (option == "tree" || option == "alpha" || option == "trees") return options.is_tree();
  if (option == "calibrate") return options.is_tree() && options.loss == Loss::kLogistic;
  if (option == "rarity") return options.calibrates();
  for (const char* of_regressors : {"loss", "update", "learning-rate", "clip", "bits"}) {
    if (option == of_regressors) return options.method != Method::kTable;
  }
  return true;
}

std::string options_text(const ModelOptions& options) {
  const Json json = options_json(options);
  std::string text;
  for (const auto& [name, value] : json.items()) {
    if (!applies(name, options)) continue;
    text += (text.empty() ? "" : ", ") + name + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

// One row with a bar for each depth at which there are leaves.
std::string histogram(const std::vector<std::uint64_t>& labels_at_depth) {
  constexpr double kLongestBar = 50;
  if (labels_at_depth.empty()) return "";
  const auto most = static_cast<double>(*std::max_element(labels_at_depth.begin(), labels_at_depth.end()));
  std::string text = "\ndepth      labels\n";
  for (std::size_t depth = 0; depth < labels_at_depth.size(); ++depth) {
    const std::uint64_t count = labels_at_depth[depth];
    if (count == 0) continue;
    const auto bar = static_cast<std::size_t>(std::ceil(kLongestBar * static_cast<double>(count) / most));
    text += fmt::format("{:>5}  {:>10}  {}\n", depth, count, std::string(bar, '#'));
  }
  return text;
}

std::string shape_text(const ShownFigures& figures) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "nodes          {}\n", figures.nodes);
  fmt::format_to(out, "blocks         {}\n", figures.blocks);
  fmt::format_to(out, "depth          {:.1f} on average{}, at most {}{}\n", figures.tree.depth_mean,
                 bound_text(figures, &TreeBounds::depth_mean), figures.tree.depth_max,
                 bound_text(figures, &TreeBounds::depth_max));
  fmt::format_to(out, "disagreements  {}{}\n", figures.tree.disagreements,
                 bound_text(figures, &TreeBounds::disagreements));
  return text;
}

void add_shape(const ShownFigures& figures, Json& tree) {
  tree["depth_mean_bound"] = bound_json(figures, &TreeBounds::depth_mean);
  tree["disagreement_bound"] = bound_json(figures, &TreeBounds::disagreements);
  tree["nodes"] = figures.nodes;
  tree["blocks"] = figures.blocks;
  tree["labels_at_depth"] = figures.labels_at_depth;
}

}  // namespace

std::string figures_text(const Learner& learner) {
  const ShownFigures figures = measure_model(learner);
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "labels         {}\n", figures.tree.labels);
  if (!figures.tree.is_flat) text += shape_text(figures);
  fmt::format_to(out, "{:<15}{}\n", figures.tree.is_flat ? "label digest" : "tree digest",
                 digest_text(figures.tree.digest));
  const bool counts = figures.options.method == Method::kTable;
  if (counts) {
    fmt::format_to(out, "counts         {} distinct x, {} distinct (x, label)\n", figures.counted_examples,
                   figures.counted_pairs);
  } else {
    fmt::format_to(out, "weights        {} of {} rows used ({:.1f} %), {:g} MiB\n", figures.weights.used,
                   figures.weight_rows, 100 * used_part(figures),
                   static_cast<double>(figures.weight_rows) / kRowsPerMib);
  }
  fmt::format_to(out, "{:<15}{}\n", counts ? "count digest" : "weight digest", digest_text(figures.state_digest));
  fmt::format_to(out, "options        {}\n", options_text(figures.options));
  if (!learner.input().empty()) fmt::format_to(out, "trained on     {}\n", describe(learner.input()));
  return text + histogram(figures.labels_at_depth);
}

Json figures_json(const Learner& learner) {
  const ShownFigures figures = measure_model(learner);
  Json tree = tree_json(figures.tree);
  if (!figures.tree.is_flat) add_shape(figures, tree);
  const Json weights =
      weights_json(figures.options.table_bits(), figures.options.trees, figures.weights.used, figures.state_digest);
  Json json{{"tree", tree}, {"weights", weights}, {"options", options_json(figures.options)}};
  json["input"] = input_json(learner.input());
  if (figures.options.method == Method::kTable) {
    json["counts"] = {{"examples", figures.counted_examples}, {"pairs", figures.counted_pairs}};
  }
  return json;
}

}  // namespace cpt
