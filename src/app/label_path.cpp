#include "app/label_path.h"

namespace cpt {

std::vector<PathNode> label_path(const Tree& tree, LabelId label) {
  std::vector<Hop> hops;
  tree.path(label, hops);
  std::vector<PathNode> nodes;
  for (const Hop& hop : hops) {
    // Read from its top bit on, a place is a 1 and then the sides taken to get there.
    for (std::uint32_t levels = place_depth(hop.place); levels > 0; --levels) {
      const auto slot = static_cast<std::uint8_t>(hop.place >> levels);
      nodes.push_back({hop.block, slot, (hop.place >> (levels - 1) & 1) == 1});
    }
  }
  return nodes;
}

}  // namespace cpt
