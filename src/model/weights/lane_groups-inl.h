// The trained lanes of several blocks, side by side in vectors: an example trains few lanes of a block (four of binary
// nodes), so most work on whole rows would be wasted. Included once for each instruction set, as vector_math-inl.h.
#if defined(CPT_LANE_GROUPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CPT_LANE_GROUPS_INL_H
#undef CPT_LANE_GROUPS_INL_H
#else
#define CPT_LANE_GROUPS_INL_H
#endif

#include "model/weights/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

// The lanes of a block form groups of four, or of one if vectors have only one.
using GroupTag = hn::CappedTag<float, LaneTargets::kLanesTogether>;
using GroupVector = hn::Vec<GroupTag>;
constexpr GroupTag kGroupTag;
constexpr std::size_t kGroup = hn::MaxLanes(kGroupTag);
template <class Tag>
constexpr std::size_t kGroupsIn = hn::MaxLanes(Tag()) / kGroup;

// Trained lanes of a block: LaneTargets::lanes from `first` on.
struct Group {
  const LaneTargets* targets;
  const Estimate* estimate;
  std::uint32_t first;
  std::uint32_t block;

  const std::uint8_t* lanes() const { return targets->lanes.data() + first; }
  const std::uint8_t* nodes() const { return targets->nodes.data() + first; }
  const float* towards() const { return targets->towards.data() + first; }
};

// The groups of all trained lanes of a few blocks, in order.
struct Groups {
  Group groups[kBlocksTogether * kLanes / kGroup];
  std::size_t count = 0;
  std::size_t ends[kBlocksTogether];  // by block

  std::size_t begin(std::size_t block) const { return block == 0 ? 0 : ends[block - 1]; }
  std::size_t end(std::size_t block) const { return ends[block]; }
};

HWY_INLINE void FindGroups(const LaneTargets* const* targets, const Estimate* estimates, std::size_t blocks,
                           Groups& groups) {
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint32_t lanes = targets[b]->count;
    for (std::uint32_t first = 0; first < lanes; first += kGroup) {
      groups.groups[groups.count++] = {targets[b], estimates + b, first, static_cast<std::uint32_t>(b)};
    }
    groups.ends[b] = groups.count;
  }
}

// Calls work(tag, at) for vectors of the groups at, at + 1, ... until all in [begin, end) are done: full vectors, then
// ever shorter ones. Most paths would leave the last full vector half empty, and a path of one block three quarters.
template <class Tag, class Work>
HWY_INLINE void ForVectors([[maybe_unused]] Tag tag, std::size_t begin, std::size_t end, const Work& work) {
  constexpr std::size_t kGroups = kGroupsIn<Tag>;
  for (; begin + kGroups <= end; begin += kGroups) work(tag, begin);
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kGroups > 1) ForVectors(hn::Half<Tag>(), begin, end, work);
#endif
}

// A vector of load(group) for one group after the other.
template <class Tag, class Load>
HWY_INLINE hn::Vec<Tag> FromGroups([[maybe_unused]] Tag tag, const Group* groups, Load load) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(tag) > kGroup) {
    constexpr hn::Half<Tag> kHalf;
    const auto upper = FromGroups(kHalf, groups + hn::MaxLanes(kHalf) / kGroup, load);
    return hn::Combine(tag, upper, FromGroups(kHalf, groups, load));
  }
#endif
  if constexpr (hn::MaxLanes(tag) == kGroup) return load(*groups);
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> TowardsOf(Tag tag, const Group* groups) {
  return FromGroups(tag, groups, [](const Group& group) { return hn::Load(kGroupTag, group.towards()); });
}

// The first lanes of a vector.
template <class Tag>
HWY_INLINE GroupVector FirstLanes([[maybe_unused]] Tag tag, hn::Vec<Tag> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(tag) > kGroup) {
    constexpr hn::Half<Tag> kHalf;
    return FirstLanes(kHalf, hn::LowerHalf(kHalf, v));
  }
#endif
  if constexpr (hn::MaxLanes(tag) == kGroup) return v;
}

// The lanes of a row that a group has: by one permutation where a row fits a vector.
HWY_INLINE GroupVector LanesOf(const float* row, const std::uint8_t* lanes) {
#if HWY_TARGET == HWY_SCALAR
  return hn::LoadU(kGroupTag, row + lanes[0]);
#else
  if constexpr (kParts == 1) {
    // The load may run past LaneTargets::lanes into `nodes`. Those are valid indices too; their results are dropped.
    const auto indices = hn::IndicesFromVec(kFloat, hn::PromoteTo(kInt, hn::LoadU(kByte, lanes)));
    const V all = hn::TableLookupLanes(hn::LoadU(kFloat, row), indices);
    return FirstLanes(kFloat, all);
  }
  constexpr hn::Half<GroupTag> kPair;
  constexpr hn::Half<hn::Half<GroupTag>> kOne;
  const auto at = [&](std::size_t i) { return hn::LoadU(kOne, row + lanes[i]); };
  return hn::Combine(kGroupTag, hn::Combine(kPair, at(3), at(2)), hn::Combine(kPair, at(1), at(0)));
#endif
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> MarginsOf(Tag tag, const Group* groups) {
  return FromGroups(tag, groups,
                    [](const Group& group) { return LanesOf(group.estimate->margin.data(), group.lanes()); });
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> ScaledMarginsOf(Tag tag, const Group* groups) {
  return FromGroups(tag, groups,
                    [](const Group& group) { return LanesOf(group.estimate->scaled.data(), group.lanes()); });
}

// Stores P(right) of some groups in the estimates of their blocks.
template <class Tag>
HWY_INLINE void StoreRight(Tag tag, hn::Vec<Tag> right, const Group* groups, Estimate* estimates) {
  HWY_ALIGN float lanes[hn::MaxLanes(tag)];
  hn::Store(right, tag, lanes);
  for (std::size_t g = 0; g < kGroupsIn<Tag>; ++g) {
    Row& of_block = estimates[groups[g].block].right;
    for (std::size_t i = 0; i < kGroup; ++i) of_block[groups[g].lanes()[i]] = lanes[g * kGroup + i];
  }
}

#if HWY_TARGET != HWY_SCALAR
// The lanes of the group, then zeros.
template <class Tag>
HWY_INLINE hn::Vec<Tag> Extended(Tag tag, GroupVector group) {
  if constexpr (hn::MaxLanes(tag) > kGroup) {
    constexpr hn::Half<Tag> kHalf;
    return hn::ZeroExtendVector(tag, Extended(kHalf, group));
  } else {
    return group;
  }
}

// Loads four numbers, from `first` on, of the nodes 0, 4, 8, ...
template <class Tag>
HWY_INLINE hn::Vec<Tag> OfEveryFourth([[maybe_unused]] Tag tag, const float* const* nodes, std::size_t first) {
  if constexpr (hn::MaxLanes(tag) > kGroup) {
    constexpr hn::Half<Tag> kHalf;
    const auto upper = OfEveryFourth(kHalf, nodes + hn::MaxLanes(kHalf), first);
    return hn::Combine(tag, upper, OfEveryFourth(kHalf, nodes, first));
  } else {
    return hn::LoadU(tag, nodes[0] + first);
  }
}

template <class Tag>
HWY_INLINE void StoreToEveryFourth(Tag tag, hn::Vec<Tag> v, float* const* nodes, std::size_t first) {
  if constexpr (hn::MaxLanes(tag) > kGroup) {
    constexpr hn::Half<Tag> kHalf;
    StoreToEveryFourth(kHalf, hn::LowerHalf(kHalf, v), nodes, first);
    StoreToEveryFourth(kHalf, hn::UpperHalf(kHalf, v), nodes + hn::MaxLanes(kHalf), first);
  } else {
    hn::StoreU(v, tag, nodes[0] + first);
  }
}

// Four vectors as the rows of 4 x 4 matrices, one in each 128 bits.
template <class W>
HWY_INLINE void Transpose(W* rows) {
  constexpr hn::DFromV<W> kTag;
  constexpr hn::Repartition<std::uint64_t, hn::DFromV<W>> kPairs;
  const auto lower01 = hn::BitCast(kPairs, hn::InterleaveLower(kTag, rows[0], rows[1]));
  const auto upper01 = hn::BitCast(kPairs, hn::InterleaveUpper(kTag, rows[0], rows[1]));
  const auto lower23 = hn::BitCast(kPairs, hn::InterleaveLower(kTag, rows[2], rows[3]));
  const auto upper23 = hn::BitCast(kPairs, hn::InterleaveUpper(kTag, rows[2], rows[3]));
  rows[0] = hn::BitCast(kTag, hn::InterleaveLower(kPairs, lower01, lower23));
  rows[1] = hn::BitCast(kTag, hn::InterleaveUpper(kPairs, lower01, lower23));
  rows[2] = hn::BitCast(kTag, hn::InterleaveLower(kPairs, upper01, upper23));
  rows[3] = hn::BitCast(kTag, hn::InterleaveUpper(kPairs, upper01, upper23));
}
#endif

// Loads number `number` of one node for each lane of the vector.
template <class Tag>
HWY_INLINE hn::Vec<Tag> NumberOf([[maybe_unused]] Tag tag, float* const* nodes, std::size_t number) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(tag) > 1) {
    constexpr hn::Half<Tag> kHalf;
    const auto upper = NumberOf(kHalf, nodes + hn::MaxLanes(kHalf), number);
    return hn::Combine(tag, upper, NumberOf(kHalf, nodes, number));
  }
#endif
  if constexpr (hn::MaxLanes(tag) == 1) return hn::LoadU(tag, nodes[0] + number);
}

// Loads the numbers `first` .. `first` + 3 of one node for each lane, one vector for each number.
template <class Tag>
HWY_INLINE void LoadFourNumbers(Tag tag, const float* const* nodes, std::size_t first, hn::Vec<Tag>* numbers) {
  for (std::size_t i = 0; i < 4; ++i) {
#if HWY_TARGET == HWY_SCALAR
    numbers[i] = hn::LoadU(tag, nodes[0] + first + i);
#else
    numbers[i] = OfEveryFourth(tag, nodes + i, first);
#endif
  }
#if HWY_TARGET != HWY_SCALAR
  Transpose(numbers);
#endif
}

// The reverse of LoadFourNumbers(). `numbers` becomes meaningless.
template <class Tag>
HWY_INLINE void StoreFourNumbers(Tag tag, hn::Vec<Tag>* numbers, float* const* nodes, std::size_t first) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < 4; ++i) hn::StoreU(numbers[i], tag, nodes[0] + first + i);
#else
  Transpose(numbers);
  for (std::size_t i = 0; i < 4; ++i) StoreToEveryFourth(tag, numbers[i], nodes + i, first);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#endif  // CPT_LANE_GROUPS_INL_H
