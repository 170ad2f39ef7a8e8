#include "core/vector_targets.h"
#include "model/weights/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/weights/train_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "model/weights/lane_groups-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

// Errors and moves of the trained lanes of a few blocks, in the order of their groups.
struct LaneErrors {
  static constexpr std::size_t kMost = kBlocksTogether * kLanes;
  HWY_ALIGN float error[kMost];    // 0 in padding; without sign if safe and logistic
  HWY_ALIGN float towards[kMost];  // as LaneTargets
  HWY_ALIGN float margin[kMost];   // safe: v if logistic, else z
  HWY_ALIGN float power[kMost];    // safe and logistic: exp(v)
  HWY_ALIGN float change[kMost];   // safe: what the step adds to the margin, over u
};

// Trains the calibrators of some nodes, side by side, as train_blocks() says: f = (z, 1, y), and S by its upper half.
template <class W>
HWY_INLINE void TrainNodes(W z, W y, W towards, W h, W forgotten, W* numbers) {
  const W one = Same(z, 1.0F);
  const W kept = hn::Sub(one, forgotten);
  const W f[3] = {KeptMargin(z), one, KeptMargin(y)};
  W* const s = numbers + Calibrator::kAA;
  const auto dot = [&](W a, W b, W c) { return hn::Add(hn::Add(hn::Mul(a, f[0]), b), hn::Mul(c, f[2])); };
  const W k[3] = {dot(s[0], s[1], s[2]), dot(s[1], s[3], s[4]), dot(s[2], s[4], s[5])};
  const W v = hn::Max(dot(k[0], k[1], k[2]), Same(z, 0.0F));
  // With e = exp(-m): p = 1 / (1 + e) and g = (1 + e)^2 / ((1 + e)^2 + h e v), by one division.
  const W e = Exp(hn::Neg(Kept(Calibrated(z, y, numbers), -20.0F, 20.0F)));
  const W sum = hn::Add(one, e);
  const W square = hn::Mul(sum, sum);
  const W information = hn::Mul(h, e);  // times the square
  const W divisor = hn::Add(square, hn::Mul(information, v));
  const W inverse = hn::Div(one, hn::Mul(sum, divisor));
  const W p = hn::Mul(divisor, inverse);
  const W taken = hn::Mul(hn::Mul(information, sum), inverse);
  const W g = hn::Mul(hn::Mul(square, sum), inverse);
  const W right = hn::IfThenElseZero(hn::Gt(towards, Same(z, 0.0F)), one);
  const W step = hn::Mul(hn::Mul(h, hn::Sub(right, p)), g);
  for (int i = 0; i < 3; ++i) numbers[i] = hn::Add(numbers[i], hn::Mul(k[i], step));
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const W taken_k = hn::Mul(taken, k[i]);
    for (int j = i; j < 3; ++j, ++at) {
      s[at] = hn::Mul(kept, hn::Sub(s[at], hn::Mul(taken_k, k[j])));
      if (i == j) s[at] = hn::Add(s[at], hn::Mul(forgotten, Same(z, Calibrator::kFirst[Calibrator::kAA + at])));
    }
  }
}

// Finds where the numbers of the nodes of some groups are: in `no_node` for lanes that belong to none. Without
// branches, which would be unpredictable at the end of a path.
template <std::size_t kCount>
HWY_INLINE void FindNodes(Calibrator* const* calibrators, const Group* groups, float* no_node,
                          float* (&nodes)[kCount * kGroup]) {
  for (std::size_t g = 0; g < kCount; ++g) {
    float* const base = calibrators[groups[g].block]->floats.data();
    const std::uint8_t* const lanes = groups[g].nodes();
    for (std::size_t i = 0; i < kGroup; ++i) {
      const std::uintptr_t is_node = lanes[i] != 0 ? ~std::uintptr_t{0} : 0;
      const auto node = reinterpret_cast<std::uintptr_t>(base + Calibrator::kOffsets[lanes[i]]);
      const auto none = reinterpret_cast<std::uintptr_t>(no_node);
      nodes[g * kGroup + i] = reinterpret_cast<float*>(none ^ ((none ^ node) & is_node));
    }
  }
}

// Trains the calibrators of the nodes of some groups, given their margins z. With kPredicts, first stores P(right) as
// predicted before training.
template <bool kPredicts, class Tag, class W = hn::Vec<Tag>>
HWY_INLINE void TrainCalibrators(Tag tag, const UpdateStep& update_step, const Group* groups, W z, W towards) {
  constexpr std::size_t kVectorLanes = hn::MaxLanes(tag);
  HWY_ALIGN float no_node[kLanes] = {};  // for lanes that belong to none
  float* nodes[kVectorLanes];
  FindNodes<kGroupsIn<Tag>>(update_step.calibrators, groups, no_node, nodes);
  W numbers[Calibrator::kNumbers];
  LoadFourNumbers(tag, nodes, Calibrator::kA, numbers);
  LoadFourNumbers(tag, nodes, Calibrator::kAB, numbers + Calibrator::kAB);
  numbers[Calibrator::kCC] = NumberOf(tag, nodes, Calibrator::kCC);
  const W y = ScaledMarginsOf(tag, groups);
  if constexpr (kPredicts) StoreRight(tag, CalibratedProbability(z, y, numbers), groups, update_step.estimates);
  const float importance = HWY_MIN(update_step.importance, Calibrator::kMostImportance);
  const W forgotten = hn::Set(tag, 3e-5F * HWY_MIN(importance, 1 / importance));
  float learned = 0;
  do {
    const float step = HWY_MIN(importance - learned, HWY_MAX(learned, 1.0F));
    TrainNodes(z, y, towards, hn::Set(tag, step), forgotten, numbers);
    learned += step;
  } while (learned < importance);
  HWY_ALIGN float last[kVectorLanes];
  hn::Store(numbers[Calibrator::kCC], tag, last);
  StoreFourNumbers(tag, numbers, nodes, Calibrator::kA);
  StoreFourNumbers(tag, numbers + Calibrator::kAB, nodes, Calibrator::kAB);
  for (std::size_t lane = 0; lane < kVectorLanes; ++lane) nodes[lane][Calibrator::kCC] = last[lane];
}

// Computes the errors of all groups and trains their calibrators: each hides the latency of the other.
template <Loss kLoss, Update kUpdate, bool kPredicts>
HWY_INLINE void ComputeErrors(const UpdateStep& update_step, const Groups& groups, float factor, LaneErrors& errors) {
  ForVectors(kFloat, 0, groups.count, [&](auto tag, std::size_t at) HWY_ATTR {
    const auto zero = hn::Zero(tag);
    const auto one = hn::Set(tag, 1.0F);
    const auto z = MarginsOf(tag, groups.groups + at);
    const auto towards = TowardsOf(tag, groups.groups + at);
    const auto to_right = hn::Gt(towards, zero);
    auto error = zero;
    auto margin = z;
    if constexpr (kUpdate == Update::kSafe && kLoss == Loss::kLogistic) {
      margin = Kept(hn::IfThenElse(to_right, z, hn::Neg(z)), -60.0F, 20.0F);
      const auto power = Exp(margin);
      hn::Store(power, tag, errors.power + at * kGroup);
      error = hn::Div(one, hn::Add(one, power));
    } else {
      error = hn::Mul(hn::Sub(hn::IfThenElseZero(to_right, one), Probability<kLoss>(z)), hn::Set(tag, factor));
    }
    hn::Store(margin, tag, errors.margin + at * kGroup);
    hn::Store(towards, tag, errors.towards + at * kGroup);
    hn::Store(hn::IfThenElseZero(hn::Ne(towards, zero), error), tag, errors.error + at * kGroup);
    if (update_step.calibrators != nullptr) {
      TrainCalibrators<kPredicts>(tag, update_step, groups.groups + at, z, towards);
    }
  });
}

HWY_INLINE float SumOfSquares(const float* errors, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; i += LaneTargets::kLanesTogether) {
    for (std::size_t j = 0; j < LaneTargets::kLanesTogether; ++j) sum += errors[i + j] * errors[i + j];
  }
  return sum;
}

// How far the gradient flow of the logistic loss takes v in the time q: v' - v, given exp(v) and 1 / (1 + exp(v)).
template <class W>
HWY_INLINE W LogisticFlow(W v, W power, W inverse, W q) {
  constexpr hn::DFromV<W> kTag;
  const W one = Same(v, 1.0F);
  const W half = Same(v, 0.5F);
  // Where v' is near v, rounding would lose their difference, so the first three terms of its series are added up.
  const W straight = hn::Mul(q, inverse);
  const W p = hn::Mul(power, inverse);
  const W third = hn::Mul(hn::Sub(hn::Mul(half, p), Same(v, 1.0F / 6)), straight);
  const W near = hn::Mul(straight, hn::Sub(one, hn::Mul(hn::Mul(p, straight), hn::Sub(half, third))));
  const auto is_near = hn::Le(straight, Same(v, 0.35F));
  if (hn::AllTrue(kTag, is_near)) return near;
  // One step of Halley's method for v' + exp(v') = c.
  const W c = hn::Add(hn::Add(v, power), q);
  const W below = hn::Sub(c, Same(v, 0.9F));
  const W start = hn::Max(v, hn::IfThenElse(hn::Gt(c, one), RoughLog(c), below));
  const W start_power = Exp(start);
  const W excess = hn::Sub(hn::Add(start, start_power), c);
  const W slope = hn::Add(one, start_power);
  const W divisor = hn::Sub(hn::Mul(slope, slope), hn::Mul(half, hn::Mul(excess, start_power)));
  const W far = hn::Sub(hn::Sub(start, v), hn::Div(hn::Mul(excess, slope), divisor));
  return hn::IfThenElse(is_near, near, hn::Max(far, hn::Zero(kTag)));
}

// Of the safe step, by block: q and 1 / u.
struct Times {
  float q[kBlocksTogether] = {};
  float inverse_u[kBlocksTogether] = {};
};

// What the safe step adds to the margins of lanes, over u.
template <Loss kLoss>
HWY_INLINE void ComputeChanges(const Groups& groups, const Times& times, LaneErrors& errors) {
  ForVectors(kFloat, 0, groups.count, [&](auto tag, std::size_t at) HWY_ATTR {
    const auto of_blocks = [&](const float* numbers) HWY_ATTR {
      return FromGroups(tag, groups.groups + at,
                        [&](const Group& group) HWY_ATTR { return hn::Set(kGroupTag, numbers[group.block]); });
    };
    const auto zero = hn::Zero(tag);
    const auto q = of_blocks(times.q);
    const auto error = hn::Load(tag, errors.error + at * kGroup);
    const auto to_right = hn::Gt(hn::Load(tag, errors.towards + at * kGroup), zero);
    const auto margin = hn::Load(tag, errors.margin + at * kGroup);
    auto move = zero;
    if constexpr (kLoss == Loss::kLogistic) {
      move = LogisticFlow(margin, hn::Load(tag, errors.power + at * kGroup), error, q);
      move = hn::IfThenElse(to_right, move, hn::Neg(move));
    } else {
      const auto target = hn::IfThenElseZero(to_right, hn::Set(tag, 1.0F));
      move = hn::Mul(hn::Sub(margin, target), ExpMinus1(hn::Neg(hn::Min(q, hn::Set(tag, 87.0F)))));
    }
    const auto change = hn::Mul(move, of_blocks(times.inverse_u));
    // Padding has an error of 0.
    hn::Store(hn::IfThenElseZero(hn::Ne(error, zero), change), tag, errors.change + at * kGroup);
  });
}

// Puts the lanes of a group into their places of `row`, where they are 0.
HWY_INLINE void Spread(const LaneTargets& targets, std::size_t first, GroupVector group, V* row) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kStep > kGroup) {
    const V lanes = Extended(kFloat, group);
    for (std::size_t part = 0; part < kParts; ++part) {
      const auto index = hn::LoadU(kByte, targets.index_of_lane.data() + part * kStep);
      const auto of_group = hn::Sub(index, hn::Set(kByte, static_cast<std::uint8_t>(first)));
      // Lanes of other groups, and kNotTrained, are mapped to the first lane after the group, which is 0.
      const auto from = hn::Min(of_group, hn::Set(kByte, static_cast<std::uint8_t>(kGroup)));
      const auto indices = hn::IndicesFromVec(kFloat, hn::PromoteTo(kInt, from));
      row[part] = hn::Or(row[part], hn::TableLookupLanes(lanes, indices));
    }
    return;
  }
#endif
  HWY_ALIGN float lanes[kGroup];
  hn::Store(group, kGroupTag, lanes);
  HWY_ALIGN float spread[kLanes] = {};
  for (std::size_t i = 0; i < kGroup; ++i) spread[targets.lanes[first + i]] = lanes[i];
  for (std::size_t part = 0; part < kParts; ++part) {
    row[part] = hn::Or(row[part], hn::Load(kFloat, spread + part * kStep));
  }
}

// For up to kLanes features of one block; further lanes hold harmless values.
struct Steps {
  Row step;
  Row growth;  // of G, by feature
};
// What the safe step needs of the example, for the same features.
struct Values {
  Row value;
  Row slack;  // value^2 / 5
};
static_assert(scratch_floats(kLanes) * sizeof(float) == sizeof(Values) + kBlocksTogether * sizeof(Steps));

// UpdateStep::scratch, sixteen features at a time.
struct Scratch {
  Scratch(float* memory, std::size_t features)
      : parts(padded(features) / kLanes),
        values(reinterpret_cast<Values*>(memory)),
        steps(reinterpret_cast<Steps*>(values + parts)) {}

  Steps* of_block(std::size_t block) const { return steps + block * parts; }

  std::size_t parts;
  Values* values;
  Steps* steps;  // of the blocks that are trained together
};

HWY_INLINE void FindValues(const PathRows& path, Values* values) {
  for (std::size_t first = 0; first < path.features; first += kLanes, ++values) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    for (std::size_t lane = 0; lane < count; lane += kStep) {
      const V value = LoadFirst(path.values + first + lane, count - lane);
      hn::StoreU(value, kFloat, values->value.data() + lane);
      const V slack = hn::Mul(hn::Mul(value, value), hn::Set(kFloat, 0.2F));
      hn::StoreU(slack, kFloat, values->slack.data() + lane);
    }
  }
}

// Computes the steps of up to kLanes features of a block, from `first` on. With the safe step, also adds the product of
// value and step of the features i, i + kLanes, ... to lane i of `length`. Recurses from one vector of features to the
// next, so that `length` stays in registers.
template <Update kUpdate, std::size_t kPart = 0>
HWY_INLINE void ComputeSteps(const PathRows& path, std::size_t block, std::size_t first, float squares, float rate,
                             Steps& steps, [[maybe_unused]] const Values* values, [[maybe_unused]] V* length) {
  constexpr std::size_t kLane = kPart * kStep;
  V value;
  if constexpr (kUpdate == Update::kSafe) {
    value = hn::LoadU(kFloat, values->value.data() + kLane);
  } else {
    value = LoadFirst(path.values + first + kLane, path.features - first - kLane);
  }
  const V growth = hn::Mul(hn::Mul(value, hn::Set(kFloat, squares)), value);
  V step = kUpdate == Update::kSafe ? value : hn::Mul(value, hn::Set(kFloat, rate));
  if constexpr (kUpdate != Update::kSgd) {
    V after = hn::Add(hn::LoadU(kFloat, path.before + block * padded(path.features) + first + kLane), growth);
    if constexpr (kUpdate == Update::kSafe) after = hn::Add(after, hn::LoadU(kFloat, values->slack.data() + kLane));
    // Keeps the first step finite when the growth is too small for a float.
    step = hn::Div(step, hn::Sqrt(hn::Add(after, hn::Set(kFloat, 1e-36F))));
  }
  if constexpr (kUpdate == Update::kSafe) length[kPart] = hn::Add(length[kPart], hn::Mul(value, step));
  hn::StoreU(step, kFloat, steps.step.data() + kLane);
  // A row that moved must count as used even when the growth is too small for a float.
  const V least = hn::Set(kFloat, 1e-37F);
  hn::StoreU(hn::IfThenElse(hn::Lt(growth, least), least, growth), kFloat, steps.growth.data() + kLane);
  if constexpr (kPart + 1 < kParts) {
    if (path.features - first > kLane + kStep) {
      ComputeSteps<kUpdate, kPart + 1>(path, block, first, squares, rate, steps, values, length);
    }
  }
}

// Adds `growth` to lane 0 and step * changes to the others.
HWY_INLINE void Move(float* row, const V* changes, float step, float growth) {
  const V vector_step = hn::Set(kFloat, step);
  for (std::size_t part = 0; part < kParts; ++part) {
    V change = hn::Mul(vector_step, changes[part]);
    if (part == 0) change = hn::IfThenElse(hn::FirstN(kFloat, 1), hn::Set(kFloat, growth), change);
    hn::Store(hn::Add(hn::Load(kFloat, row + part * kStep), change), kFloat, row + part * kStep);
  }
}

// Moves `count` rows, and prefetches as many.
HWY_INLINE void MoveSome(float* const* rows, std::size_t count, const V* changes, const Steps& steps,
                         RowsAhead* ahead) {
  const std::size_t prefetched = HWY_MIN(count, LeftOf(ahead));
  float* const* const later = Take(ahead, prefetched);
  for (std::size_t f = 0; f < prefetched; ++f) {
    __builtin_prefetch(later[f], 1);
    Move(rows[f], changes, steps.step[f], steps.growth[f]);
  }
  for (std::size_t f = prefetched; f < count; ++f) Move(rows[f], changes, steps.step[f], steps.growth[f]);
}

// Adaptive and sgd: moves the rows of a block by its errors.
template <Update kUpdate>
HWY_INLINE void MoveByErrors(const PathRows& path, std::size_t block, const V* errors, float squares, float rate) {
  float* const* rows = path.rows + block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes, rows += kLanes) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    Steps steps;
    ComputeSteps<kUpdate>(path, block, first, squares, rate, steps, nullptr, nullptr);
    MoveSome(rows, count, errors, steps, path.ahead);
  }
}

// Safe: computes the steps of a block and returns u.
HWY_INLINE float ComputeSafeSteps(const PathRows& path, std::size_t block, float squares, const Scratch& scratch) {
  V length[kParts];
  for (V& part : length) part = hn::Zero(kFloat);
  const Values* values = scratch.values;
  Steps* steps = scratch.of_block(block);
  for (std::size_t first = 0; first < path.features; first += kLanes, ++values, ++steps) {
    ComputeSteps<Update::kSafe>(path, block, first, squares, 1, *steps, values, length);
  }
  return SumOfLanes(length);
}

HWY_INLINE void MoveBySteps(const PathRows& path, std::size_t block, const V* changes, const Steps* steps) {
  float* const* rows = path.rows + block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes, rows += kLanes, ++steps) {
    MoveSome(rows, HWY_MIN(path.features - first, kLanes), changes, *steps, path.ahead);
  }
}

// ln(h) for h > 1, within 1e-6 of it.
float LogOf(float h) {
  float log = hn::GetLane(RoughLog(hn::Set(kFloat, h)));
  for (int newton = 0; newton < 3; ++newton) {
    log += h * hn::GetLane(Exp(hn::Set(kFloat, -log))) - 1;
  }
  return log;
}

// Spreads the numbers of the groups of a block to their lanes of a row.
HWY_INLINE void SpreadGroups(const Groups& groups, std::size_t block, const float* numbers, V* row) {
  for (std::size_t part = 0; part < kParts; ++part) row[part] = hn::Zero(kFloat);
  for (std::size_t g = groups.begin(block); g < groups.end(block); ++g) {
    const Group& group = groups.groups[g];
    Spread(*group.targets, group.first, hn::Load(kGroupTag, numbers + g * kGroup), row);
  }
}

// Moves the rows of some blocks, given sum_s e_s^2 by block.
template <Loss kLoss>
HWY_INLINE void MoveSafely(const PathRows& path, const UpdateStep& update_step, const Groups& groups,
                           const float* squares, LaneErrors& errors) {
  const Scratch scratch(update_step.scratch, path.features);
  const float importance = update_step.importance;
  const float growth = importance <= 1 ? importance : 1 + LogOf(importance);
  const auto rate =
      static_cast<float>(HWY_MIN(static_cast<double>(update_step.rate) * static_cast<double>(importance), 1e30));
  Times times;
  for (std::size_t b = 0; b < path.blocks; ++b) {
    if (squares[b] == 0) continue;
    const float length = ComputeSafeSteps(path, b, growth * squares[b], scratch);
    const float u = HWY_MAX(length, 1e-36F);
    times.q[b] = HWY_MIN(rate * u, 1e30F);
    times.inverse_u[b] = 1.0F / u;
  }
  ComputeChanges<kLoss>(groups, times, errors);
  for (std::size_t b = 0; b < path.blocks; ++b) {
    if (squares[b] == 0) continue;
    V changes[kParts];
    SpreadGroups(groups, b, errors.change, changes);
    MoveBySteps(path, b, changes, scratch.of_block(b));
  }
}

// At most kBlocksTogether blocks.
template <Loss kLoss, Update kUpdate, bool kPredicts = false>
HWY_INLINE void TrainSome(const PathRows& path, const UpdateStep& update_step) {
  Groups groups;
  FindGroups(update_step.targets, update_step.estimates, path.blocks, groups);
  const auto scale = static_cast<float>(static_cast<double>(update_step.importance) / update_step.squared_length);
  LaneErrors errors;
  ComputeErrors<kLoss, kUpdate, kPredicts>(update_step, groups, kUpdate == Update::kSafe ? 1.0F : scale, errors);
  float squares[kBlocksTogether];
  for (std::size_t b = 0; b < path.blocks; ++b) {
    squares[b] = SumOfSquares(errors.error + groups.begin(b) * kGroup, update_step.targets[b]->count);
  }
  if constexpr (kUpdate == Update::kSafe) {
    MoveSafely<kLoss>(path, update_step, groups, squares, errors);
  } else {
    for (std::size_t b = 0; b < path.blocks; ++b) {
      if (squares[b] == 0) continue;
      V of_lanes[kParts];
      SpreadGroups(groups, b, errors.error, of_lanes);
      MoveByErrors<kUpdate>(path, b, of_lanes, squares[b], update_step.rate);
    }
  }
}

template <Loss kLoss>
HWY_INLINE void TrainLoss(const PathRows& path, const UpdateStep& update_step) {
  switch (update_step.update) {
    case Update::kAdaptive:
      return TrainSome<kLoss, Update::kAdaptive>(path, update_step);
    case Update::kSgd:
      return TrainSome<kLoss, Update::kSgd>(path, update_step);
    case Update::kSafe:
      return TrainSome<kLoss, Update::kSafe>(path, update_step);
  }
}

struct TrainBlocks {
  HWY_NOINLINE void operator()(const PathRows& path, const UpdateStep& update_step) const {
    if (update_step.loss == Loss::kLogistic) {
      TrainLoss<Loss::kLogistic>(path, update_step);
    } else {
      TrainLoss<Loss::kSquared>(path, update_step);
    }
  }
};

struct LearnBlocks {
  HWY_NOINLINE void operator()(const PathRows& path, const UpdateStep& update_step) const {
    TrainSome<Loss::kLogistic, Update::kSafe, true>(path, update_step);
  }
};

// Calls train(path, update_step) for as many blocks at a time as are trained together.
template <class Train>
HWY_INLINE void ForBlocksTogether(const PathRows& path, const UpdateStep& update_step, Train train) {
  if (update_step.update == Update::kSafe) FindValues(path, Scratch(update_step.scratch, path.features).values);
  // Without copies, which would wait for what the caller has just stored.
  if (path.blocks <= blocks_together(path.features)) return train(path, update_step);
  PathRows some = path;
  UpdateStep step = update_step;
  for (std::size_t left = path.blocks; left > 0; left -= some.blocks) {
    some.blocks = HWY_MIN(left, blocks_together(path.features));
    train(some, step);
    some.rows += some.blocks * path.features;
    some.before += some.blocks * padded(path.features);
    step.estimates += some.blocks;
    step.targets += some.blocks;
    if (step.calibrators != nullptr) step.calibrators += some.blocks;
  }
}

void Train(const PathRows& path, const UpdateStep& update_step) { ForBlocksTogether(path, update_step, TrainBlocks()); }

void LearnPath(const PathRows& path, const UpdateStep& update_step) {
  Sum<true>(path, update_step.estimates);
  ForBlocksTogether(path, update_step, LearnBlocks());
}

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpt {

HWY_EXPORT(Train);
HWY_EXPORT(LearnPath);

void train_blocks(const PathRows& path, const UpdateStep& update_step) {
  HWY_DYNAMIC_DISPATCH(Train)(path, update_step);
}

void learn_path(const PathRows& path, const UpdateStep& update_step) {
  HWY_DYNAMIC_DISPATCH(LearnPath)(path, update_step);
}

}  // namespace cpt
#endif  // HWY_ONCE
