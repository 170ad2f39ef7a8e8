#include "api/explanation/label_path.h"

#include <cstddef>

namespace cpt {

std::vector<PathNode> label_path(const Tree& tree, LabelId label) {
  std::vector<PathStep> steps;
  tree.path(label, steps);
  std::vector<PathNode> nodes;
  for (const PathStep& step : steps) {
    const auto& leaves = tree.nodes(step.block).leaves;
    // After its top bit, which is 1, the bits of a position are the sides taken from the root of the block.
    for (std::uint32_t levels = position_depth(step.position); levels > 0; --levels) {
      const auto slot = static_cast<std::uint8_t>(step.position >> levels);
      const std::size_t left = std::size_t{2} * slot;
      nodes.push_back({step.block, slot, (step.position >> (levels - 1) & 1) == 1, leaves[left], leaves[left + 1]});
    }
  }
  return nodes;
}

std::vector<LabelledStep> label_steps(const Tree& tree, int arity, LabelId label) {
  std::vector<LabelledStep> steps;
  for (const PathNode& path_node : label_path(tree, label)) {
    const WideNode node = node_of_slot(arity, path_node.slot);
    if (path_node.slot == node.slot) steps.push_back({path_node.block, node, 0, 0});
    LabelledStep& step = steps.back();
    ++step.levels;
    if (path_node.right) step.column |= 1U << (node.levels - step.levels);
  }
  return steps;
}

}  // namespace cpt
