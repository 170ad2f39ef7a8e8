#include "app/cpt/view/label_path.h"

#include "api/options/option_values.h"
#include "cpt/error.h"

namespace cpt {

void require_tree(const ModelOptions& options) {
  if (options.is_tree()) return;
  throw Error(Fault::kUsage, "the model was made with --method " + name_of(method_names(), options.method) +
                                 ", which has no tree to show");
}

std::vector<PathNode> label_path(const Tree& tree, LabelId label) {
  std::vector<PathStep> hops;
  tree.path(label, hops);
  std::vector<PathNode> nodes;
  for (const PathStep& hop : hops) {
    // Read from its top bit on, a place is a 1 and then the sides taken to get there.
    for (std::uint32_t levels = position_depth(hop.position); levels > 0; --levels) {
      const auto slot = static_cast<std::uint8_t>(hop.position >> levels);
      nodes.push_back({hop.block, slot, (hop.position >> (levels - 1) & 1) == 1});
    }
  }
  return nodes;
}

std::vector<LabelledStep> label_steps(const Tree& tree, int ways, LabelId label) {
  std::vector<LabelledStep> steps;
  for (const PathNode& side : label_path(tree, label)) {
    const WideNode node = node_of_slot(ways, side.slot);
    if (side.slot == node.slot) steps.push_back({side.block, node, 0, 0});
    LabelledStep& step = steps.back();
    ++step.levels;
    if (side.right) step.column |= 1U << (node.levels - step.levels);
  }
  return steps;
}

}  // namespace cpt
