#include "app/cpt/view/tree_view.h"

#include <string>
#include <string_view>

#include "api/options/option_values.h"
#include "cpt/error.h"

namespace cpt {

namespace {

// Escapes a name for a quoted label of Graphviz.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

// The identifier of a node or leaf.
std::string identifier(const Tree& tree, BlockId block, std::uint32_t slot) {
  const Child child = tree.nodes(block).child[slot];
  switch (child.kind()) {
    case Child::Kind::kLeaf:
      return fmt::format("leaf{}", child.label());
    case Child::Kind::kBlock:
      return identifier(tree, child.block(), 1);
    default:
      return fmt::format("node{}_{}", block, slot);
  }
}

void print_node(const Tree& tree, BlockId block, std::uint32_t slot, ResultWriter& out) {
  const std::string node = identifier(tree, block, slot);
  out.print("  {} [label=\"{}\"];\n", node, tree.nodes(block).leaves[slot]);
  out.print("  {} -> {} [label=\"L\"];\n", node, identifier(tree, block, 2 * slot));
  out.print("  {} -> {} [label=\"R\"];\n", node, identifier(tree, block, 2 * slot + 1));
}

}  // namespace

void require_tree(const ModelOptions& options) {
  if (options.is_tree()) return;
  throw Error(Fault::kUsage, "the model was made with --method " + name_of(method_names(), options.method) +
                                 ", which has no tree to show");
}

const Tree& shown_tree(const Learner& learner, std::uint64_t number) {
  require_tree(learner.options());
  if (number <= learner.trees().size()) return learner.tree(number - 1);
  throw Error(Fault::kUsage,
              "--tree is " + std::to_string(number) + ", and the model has " + std::to_string(learner.trees().size()));
}

void add_tree_option(CLI::App& command, std::uint64_t& number) {
  add_count(command, "--tree", number, 1, "Which of several trees, from 1");
}

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
