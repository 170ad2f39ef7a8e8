#include "model/weights/hadamard_code.h"

#include <algorithm>
#include <array>

namespace cpt {

namespace {

struct Aim {
  Row trained{};
  Row right{};
};

constexpr void aim_at_column(WideNode node, std::uint32_t column, Aim& aim) {
  for (std::uint32_t depth = 0; depth < node.levels; ++depth) {
    for (std::uint32_t lane = node.slot << depth; lane < (node.slot + 1) << depth; ++lane) {
      aim.trained[lane] = 1;
      aim.right[lane] = row_holds(node, lane, column) ? 1 : 0;
    }
  }
}

// The column that a path to `place` takes in a node above it.
constexpr std::uint32_t column_towards(WideNode node, std::uint32_t place) {
  const auto below = static_cast<std::uint32_t>(std::bit_width(place) - std::bit_width(node.slot));
  const std::uint32_t levels = std::min(below, node.levels);
  const std::uint32_t sides = (place >> (below - levels)) & ((1U << levels) - 1);
  return sides << (node.levels - levels);
}

constexpr LaneTargets make_targets(int ways, std::uint32_t place, bool leaf) {
  Aim aim;
  for (std::uint32_t at = place; at > 1;) {
    const WideNode node = node_of_slot(ways, at / 2);
    aim_at_column(node, column_towards(node, place), aim);
    at = node.slot;
  }
  if (leaf && place < kLanes && node_of_slot(ways, place).slot == place) {
    aim_at_column(node_of_slot(ways, place), 0, aim);
  }
  return targets_of(aim.trained, aim.right);
}

using AllTargets = std::array<LaneTargets, 64>;  // see targets_by_place()

constexpr AllTargets all_targets(int ways) {
  AllTargets all{};
  for (std::uint32_t place = 1; place < 32; ++place) {
    all[place] = make_targets(ways, place, false);
    all[32 + place] = make_targets(ways, place, true);
  }
  return all;
}

constexpr std::array<AllTargets, 4> kLaneTargets = {all_targets(2), all_targets(4), all_targets(8), all_targets(16)};

}  // namespace

const LaneTargets& targets_at(int ways, std::uint8_t place, bool leaf) {
  return targets_by_place(ways)[(leaf ? 32U : 0U) + place];
}

const LaneTargets* targets_by_place(int ways) {
  const auto binary_levels = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ways))) - 2;
  return kLaneTargets[binary_levels].data();
}

}  // namespace cpt
