#include "app/cpt/view/tree_dot.h"

#include <string>

namespace cpt {

namespace {

// As the text of a "quoted" label, where a backslash would begin a command.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

// The identifier of what hangs at a place.
std::string identifier(const Tree& tree, BlockId block, std::uint32_t place) {
  const Child child = tree.nodes(block).child[place];
  switch (child.kind()) {
    case Child::Kind::kLeaf:
      return fmt::format("leaf{}", child.label());
    case Child::Kind::kBlock:
      return identifier(tree, child.block(), 1);
    default:
      return fmt::format("node{}_{}", block, place);
  }
}

void print_node(const Tree& tree, BlockId block, std::uint32_t slot, ResultWriter& out) {
  const std::string node = identifier(tree, block, slot);
  out.print("  {} [label=\"{}\"];\n", node, tree.nodes(block).leaves[slot]);
  out.print("  {} -> {} [label=\"L\"];\n", node, identifier(tree, block, 2 * slot));
  out.print("  {} -> {} [label=\"R\"];\n", node, identifier(tree, block, 2 * slot + 1));
}

}  // namespace

void print_dot(const Tree& tree, const LabelDictionary& labels, ResultWriter& out) {
  out.print("digraph cpt {{\n");
  for (LabelId label = 0; label < tree.labels(); ++label) {
    out.print("  leaf{} [shape=box, label=\"{}\"];\n", label, escaped(labels.name(label)));
  }
  for (BlockId block = 0; block < tree.blocks(); ++block) {
    for (std::uint32_t slot = 1; slot <= 15; ++slot) {
      if (tree.nodes(block).child[slot].kind() == Child::Kind::kNode) print_node(tree, block, slot, out);
    }
  }
  out.print("}}\n");
}

}  // namespace cpt
