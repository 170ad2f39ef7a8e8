#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/explanation/label_path.h"
#include "app/cpt/commands.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/cpt/view/model_figures.h"
#include "app/cpt/view/tree_view.h"
#include "app/shared/figures_json.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "model/learning/learner.h"

namespace cpt {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kInspectFooter =
    R"(Depths are those of the leaves. A disagreement is a node at which a new label went against the
regressor's preference, for balance. A bound is the largest possible value in a tree with this
number of labels. Of several trees, depths are over all of them, and other figures are sums. A block
is a subtree of 4 levels, whose 15 nodes share a row of the weight table for each feature. Two
digests are equal if and only if the trees, or weights, are equal bit by bit.

The path of a label has one row per node from the root: the side taken (L or R), and the number of
leaves to the left and right of the node.

Examples:
  cpt inspect --model runs/ads/model
  cpt inspect --model runs/ads/model --label sports --json
  cpt inspect --model runs/ads/model --dot - | dot -Tsvg > tree.svg)";

struct InspectOptions {
  std::filesystem::path model;
  std::optional<std::string> label;
  std::optional<std::filesystem::path> dot;
  std::uint64_t tree = 1;
  bool json = false;
};

std::vector<PathNode> path_of(const Learner& learner, const InspectOptions& options) {
  const std::string& name = *options.label;
  const LabelId label = learner.labels().find(name, hash_label(name));
  if (label == kNoLabel) throw Error(Fault::kUsage, "no label " + quote(name) + " in the model");
  return label_path(shown_tree(learner, options.tree), label);
}

std::string path_text(const std::string& name, const std::vector<PathNode>& nodes) {
  std::string text = fmt::format("label {}, depth {}\n", name, nodes.size());
  if (!nodes.empty()) text += "side        left       right\n";
  for (const PathNode& node : nodes) {
    text += fmt::format("{:<4}  {:>10}  {:>10}\n", node.right ? 'R' : 'L', node.leaves_left, node.leaves_right);
  }
  return text;
}

Json path_json(const std::string& name, const std::vector<PathNode>& nodes) {
  Json path = Json::array();
  for (const PathNode& node : nodes) {
    path.push_back({{"side", node.right ? "R" : "L"}, {"left", node.leaves_left}, {"right", node.leaves_right}});
  }
  return {{"name", name}, {"depth", nodes.size()}, {"path", path}};
}

void print_json(const Learner& learner, const InspectOptions& options, ResultWriter& out) {
  Json json = figures_json(learner);
  if (options.label) {
    json["label"] = path_json(*options.label, path_of(learner, options));
  }
  out.print("{}\n", json_text(json, 2));
}

void inspect(const InspectOptions& options) {
  const Model model = load_model(options.model);
  const Learner& learner = model.learner();
  if (options.dot || options.label || options.tree != 1) shown_tree(learner, options.tree);
  if (options.dot) {
    ResultWriter drawing(*options.dot);
    print_dot(shown_tree(learner, options.tree), learner.labels(), drawing);
    drawing.finish();
    if (*options.dot == "-") return;
  }
  ResultWriter out;
  if (options.json) {
    print_json(learner, options, out);
  } else if (options.label) {
    out.print("{}", path_text(*options.label, path_of(learner, options)));
  } else {
    out.print("{}", figures_text(learner));
  }
  out.finish();
}

void declare(CLI::App& command, InspectOptions& options) {
  add_model_argument(command, options.model);
  command.add_option("--label", options.label, "Show the path of this label instead of the figures")->type_name("NAME");
  command
      .add_option("--dot", options.dot,
                  "Also write the tree for Graphviz to this file; - writes only the tree, to standard output")
      ->type_name("FILE");
  add_tree_option(command, options.tree);
  command.add_flag("--json", options.json, "Print the figures as a JSON object, with the path if --label is given");
}

}  // namespace

void add_inspect_command(CLI::App& program, Action& action) {
  add_command<InspectOptions>(program, action, "inspect",
                              "Shows the figures of a model, the path of a label or the tree.", kInspectFooter, declare,
                              inspect);
}

}  // namespace cpt
