#include "model/weights/hadamard_code.h"

#include <algorithm>
#include <array>

namespace cpt {

namespace {

struct Targets {
  Row trained{};
  Row right{};
};

constexpr void add_column(WideNode node, std::uint32_t column, Targets& targets) {
  for (std::uint32_t depth = 0; depth < node.levels; ++depth) {
    for (std::uint32_t lane = node.slot << depth; lane < (node.slot + 1) << depth; ++lane) {
      targets.trained[lane] = 1;
      targets.right[lane] = row_contains(node, lane, column) ? 1 : 0;
    }
  }
}

// The column that a path to `position` takes in a node above it.
constexpr std::uint32_t column_towards(WideNode node, std::uint32_t position) {
  const auto below = static_cast<std::uint32_t>(std::bit_width(position) - std::bit_width(node.slot));
  const std::uint32_t levels = std::min(below, node.levels);
  const std::uint32_t sides = (position >> (below - levels)) & ((1U << levels) - 1);
  return sides << (node.levels - levels);
}

constexpr LaneTargets make_targets(int arity, std::uint32_t position, bool leaf) {
  Targets targets;
  for (std::uint32_t at = position; at > 1;) {
    const WideNode node = node_of_slot(arity, at / 2);
    add_column(node, column_towards(node, position), targets);
    at = node.slot;
  }
  const Row nodes = targets.trained;
  if (leaf && position < kLanes && node_of_slot(arity, position).slot == position) {
    add_column(node_of_slot(arity, position), 0, targets);
  }
  return targets_of(targets.trained, targets.right, nodes);
}

using AllTargets = std::array<LaneTargets, 64>;  // see targets_by_position()

constexpr AllTargets all_targets(int arity) {
  AllTargets all{};
  for (std::uint32_t position = 1; position < 32; ++position) {
    all[position] = make_targets(arity, position, false);
    all[32 + position] = make_targets(arity, position, true);
  }
  return all;
}

constexpr std::array<AllTargets, 4> kLaneTargets = {all_targets(2), all_targets(4), all_targets(8), all_targets(16)};

}  // namespace

const LaneTargets& targets_at(int arity, std::uint8_t position, bool leaf) {
  return targets_by_position(arity)[(leaf ? 32U : 0U) + position];
}

const LaneTargets* targets_by_position(int arity) {
  const auto binary_levels = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(arity))) - 2;
  return kLaneTargets[binary_levels].data();
}

}  // namespace cpt
