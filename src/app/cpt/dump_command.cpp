#include <filesystem>

#include "api/explanation/label_path.h"
#include "app/cpt/commands.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/cpt/view/tree_view.h"
#include "cpt/error.h"
#include "model/learning/learner.h"

namespace cpt {

namespace {

constexpr const char* kDumpFooter = R"(Format:
  The first line is "cpt-tree 1 N", where N is the number of labels. Then follows one line per leaf,
  in the order in which the labels entered the tree: SIDES, a tab, LABEL. SIDES are the sides from
  the root on, 0 = left and 1 = right (- if the tree is a single leaf). LABEL extends to the end
  of the line. cpt_dist --tree file:FILE starts with this tree and gives labels the same numbers.

Example:
  cpt dump --model runs/ads/model --output ads.tree)";

struct DumpOptions {
  std::filesystem::path model;
  std::filesystem::path output;
  std::uint64_t tree = 1;
};

std::string sides_of(const Tree& tree, LabelId label) {
  std::string sides;
  for (const PathNode& node : label_path(tree, label)) sides += node.right ? '1' : '0';
  return sides.empty() ? "-" : sides;
}

// A reader would take a carriage return that ends the name as part of the line end.
bool breaks_line(std::string_view name) { return name.find('\n') != std::string_view::npos || name.ends_with('\r'); }

void dump(const DumpOptions& options) {
  const Model model = load_model(options.model);
  const Learner& learner = model.learner();
  const Tree& tree = shown_tree(learner, options.tree);
  ResultWriter out(options.output);
  out.print("cpt-tree 1 {}\n", model.labels());
  for (LabelId label = 0; label < model.labels(); ++label) {
    const std::string_view name = learner.labels().name(label);
    if (breaks_line(name)) {
      throw Error(Fault::kFailed,
                  "label " + std::to_string(label) + " has a line end in its name and cannot be written");
    }
    out.print("{}\t{}\n", sides_of(tree, label), name);
  }
  out.finish();
}

void declare(CLI::App& command, DumpOptions& options) {
  add_model_argument(command, options.model);
  add_output_option(command, options.output);
  add_tree_option(command, options.tree);
}

}  // namespace

void add_dump_command(CLI::App& program, Action& action) {
  add_command<DumpOptions>(program, action, "dump", "Writes the labels and the tree as text.", kDumpFooter, declare,
                           dump);
}

}  // namespace cpt
