#include <cstring>

#include "model/weights/kernels.h"

// Scalable vectors cannot be array elements, and a row is always sixteen lanes.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/weights/train_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "model/weights/lane_groups-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

// What training knows of a few blocks, by place in their groups.
struct LaneErrors {
  static constexpr std::size_t kMost = kBlocksTogether * kLanes;
  HWY_ALIGN float error[kMost];    // 0 in padding; without sign if safe and logistic
  HWY_ALIGN float towards[kMost];  // as LaneTargets
  HWY_ALIGN float z[kMost];
  HWY_ALIGN float margin[kMost];  // safe: v if logistic, else z
  HWY_ALIGN float power[kMost];   // safe and logistic: exp(v)
  HWY_ALIGN float change[kMost];  // safe: what the step adds to the margin, over u
};

template <Loss kLoss, Update kUpdate>
HWY_INLINE void ComputeErrors(const Groups& groups, V factor, LaneErrors& errors) {
  const V zero = hn::Zero(kFloat);
  const V one = hn::Set(kFloat, 1.0F);
  for (std::size_t at = 0; at < groups.count; at += kGroupsInVector) {
    const V z = MarginsOf(groups.groups + at);
    const V towards = TowardsOf(groups.groups + at);
    const auto to_right = hn::Gt(towards, zero);
    V error;
    V margin = z;
    if constexpr (kUpdate == Update::kSafe && kLoss == Loss::kLogistic) {
      margin = Kept(hn::IfThenElse(to_right, z, hn::Neg(z)), -60.0F, 20.0F);
      const V power = Exp(margin);
      hn::Store(power, kFloat, errors.power + at * kGroup);
      error = hn::Div(one, hn::Add(one, power));
    } else {
      error = hn::Mul(hn::Sub(hn::IfThenElseZero(to_right, one), Probability<kLoss>(z)), factor);
    }
    hn::Store(z, kFloat, errors.z + at * kGroup);
    hn::Store(margin, kFloat, errors.margin + at * kGroup);
    hn::Store(towards, kFloat, errors.towards + at * kGroup);
    hn::Store(hn::IfThenElseZero(hn::Ne(towards, zero), error), kFloat, errors.error + at * kGroup);
  }
}

HWY_INLINE float SumOfSquares(const float* errors, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; i += LaneTargets::kLanesTogether) {
    for (std::size_t j = 0; j < LaneTargets::kLanesTogether; ++j) sum += errors[i + j] * errors[i + j];
  }
  return sum;
}

// How far the gradient flow of the logistic loss takes v in the time q: v' - v, given exp(v) and 1 / (1 + exp(v)).
HWY_INLINE V LogisticFlow(V v, V power, V inverse, V q) {
  const V one = hn::Set(kFloat, 1.0F);
  const V half = hn::Set(kFloat, 0.5F);
  // Where the way is short, the difference of v' and v would be lost in rounding: the first three terms of its series.
  const V straight = hn::Mul(q, inverse);
  const V p = hn::Mul(power, inverse);
  const V third = hn::Mul(hn::Sub(hn::Mul(half, p), hn::Set(kFloat, 1.0F / 6)), straight);
  const V near = hn::Mul(straight, hn::Sub(one, hn::Mul(hn::Mul(p, straight), hn::Sub(half, third))));
  const auto is_near = hn::Le(straight, hn::Set(kFloat, 0.35F));
  if (hn::AllTrue(kFloat, is_near)) return near;
  // One step of Halley's method for v' + exp(v') = c.
  const V c = hn::Add(hn::Add(v, power), q);
  const V below = hn::Sub(c, hn::Set(kFloat, 0.9F));
  const V start = hn::Max(v, hn::IfThenElse(hn::Gt(c, one), RoughLog(c), below));
  const V start_power = Exp(start);
  const V excess = hn::Sub(hn::Add(start, start_power), c);
  const V slope = hn::Add(one, start_power);
  const V divisor = hn::Sub(hn::Mul(slope, slope), hn::Mul(half, hn::Mul(excess, start_power)));
  const V far = hn::Sub(hn::Sub(start, v), hn::Div(hn::Mul(excess, slope), divisor));
  return hn::IfThenElse(is_near, near, hn::Max(far, hn::Zero(kFloat)));
}

// Safe, by block: q and 1 / u.
struct Times {
  float q[kBlocksTogether] = {};
  float inverse_u[kBlocksTogether] = {};
};

// What the safe step adds to the margins of the lanes of the groups [begin, end), over u.
template <Loss kLoss>
HWY_INLINE void ComputeChanges(const Groups& groups, std::size_t begin, std::size_t end, const Times& times,
                               LaneErrors& errors) {
  const V zero = hn::Zero(kFloat);
  const auto of_blocks = [&](const Group* some, const float* numbers) {
    return FromGroups(kFloat, some, [&](const Group& group) { return hn::Set(kGroupTag, numbers[group.block]); });
  };
  for (std::size_t at = begin / kGroupsInVector * kGroupsInVector; at < end; at += kGroupsInVector) {
    const Group* const some = groups.groups + at;
    const V q = of_blocks(some, times.q);
    const V error = hn::Load(kFloat, errors.error + at * kGroup);
    const auto to_right = hn::Gt(hn::Load(kFloat, errors.towards + at * kGroup), zero);
    const V margin = hn::Load(kFloat, errors.margin + at * kGroup);
    V way;
    if constexpr (kLoss == Loss::kLogistic) {
      way = LogisticFlow(margin, hn::Load(kFloat, errors.power + at * kGroup), error, q);
      way = hn::IfThenElse(to_right, way, hn::Neg(way));
    } else {
      const V target = hn::IfThenElseZero(to_right, hn::Set(kFloat, 1.0F));
      way = hn::Mul(hn::Sub(margin, target), ExpMinus1(hn::Neg(hn::Min(q, hn::Set(kFloat, 87.0F)))));
    }
    const V change = hn::Mul(way, of_blocks(some, times.inverse_u));
    // Padding has an error of 0.
    hn::Store(hn::IfThenElseZero(hn::Ne(error, zero), change), kFloat, errors.change + at * kGroup);
  }
}

// The lanes of a group in their places of a row: adds them to `row`, where they are 0.
HWY_INLINE void Spread(const LaneTargets& targets, std::size_t first, GroupVector group, V* row) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kStep > kGroup) {
    constexpr hn::Rebind<std::uint8_t, Float> kByte;
    const V lanes = Extended(kFloat, group);
    for (std::size_t part = 0; part < kParts; ++part) {
      const auto places = hn::LoadU(kByte, targets.places.data() + part * kStep);
      const auto of_group = hn::Sub(places, hn::Set(kByte, static_cast<std::uint8_t>(first)));
      // Those of other groups, and kNotTrained, are taken for the first lane after the group, which is 0.
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
  Row before;  // G, by feature; not with sgd
};
// The same of the example; safe.
struct Values {
  Row value;
  Row slack;  // value^2 / 5
};
static_assert(scratch_floats(kLanes) * sizeof(float) == sizeof(Values) + kBlocksTogether * sizeof(Steps));

// UpdateStep::scratch, sixteen features at a time.
struct Scratch {
  Scratch(float* memory, std::size_t features)
      : parts((features + kLanes - 1) / kLanes),
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

// Lane 0 of some rows, into Steps::before; 0 behind them. A plain loop: gathering them in registers takes branches that
// depend on their number, which the processor cannot predict.
HWY_INLINE void FindBefore(const float* const* rows, std::size_t count, Steps& steps) {
  steps.before.fill(0);
  for (std::size_t f = 0; f < count; ++f) steps.before[f] = rows[f][0];
}

// After FindBefore(). `length`, of safe: adds to its lane i the products of values and steps of the features i, i +
// kLanes, ... One vector of features after the other, by recursion, so that `length` stays in registers.
template <Update kUpdate, std::size_t kPart = 0>
HWY_INLINE void ComputeSteps(const PathRows& path, std::size_t first, std::size_t count, float squares, float rate,
                             Steps& steps, [[maybe_unused]] const Values* values, [[maybe_unused]] V* length) {
  constexpr std::size_t kLane = kPart * kStep;
  V value;
  if constexpr (kUpdate == Update::kSafe) {
    value = hn::LoadU(kFloat, values->value.data() + kLane);
  } else {
    value = LoadFirst(path.values + first + kLane, count - kLane);
  }
  const V growth = hn::Mul(hn::Mul(value, hn::Set(kFloat, squares)), value);
  V step = kUpdate == Update::kSafe ? value : hn::Mul(value, hn::Set(kFloat, rate));
  if constexpr (kUpdate != Update::kSgd) {
    V after = hn::Add(hn::LoadU(kFloat, steps.before.data() + kLane), growth);
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
    if (count > kLane + kStep) {
      ComputeSteps<kUpdate, kPart + 1>(path, first, count, squares, rate, steps, values, length);
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

// Adaptive and sgd: moves the rows of a block by its errors.
template <Update kUpdate>
HWY_INLINE void MoveByErrors(const PathRows& path, std::size_t block, const V* errors, float squares, float rate) {
  const std::size_t begin = block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    Steps steps;
    float* const* rows = path.rows + begin + first;
    if constexpr (kUpdate == Update::kAdaptive) FindBefore(rows, count, steps);
    ComputeSteps<kUpdate>(path, first, count, squares, rate, steps, nullptr, nullptr);
    for (std::size_t f = 0; f < count; ++f) Move(rows[f], errors, steps.step[f], steps.growth[f]);
  }
}

// Safe: FindBefore() of a block.
HWY_INLINE void FindAllBefore(const PathRows& path, std::size_t block, const Scratch& scratch) {
  float* const* const rows = path.rows + block * path.features;
  Steps* steps = scratch.of_block(block);
  for (std::size_t first = 0; first < path.features; first += kLanes, ++steps) {
    FindBefore(rows + first, HWY_MIN(path.features - first, kLanes), *steps);
  }
}

// Safe: computes the steps of a block, after FindAllBefore(), and returns u.
HWY_INLINE float ComputeSafeSteps(const PathRows& path, std::size_t block, float squares, const Scratch& scratch) {
  V length[kParts];
  for (V& part : length) part = hn::Zero(kFloat);
  const Values* values = scratch.values;
  Steps* steps = scratch.of_block(block);
  for (std::size_t first = 0; first < path.features; first += kLanes, ++values, ++steps) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    ComputeSteps<Update::kSafe>(path, first, count, squares, 1, *steps, values, length);
  }
  return SumOfLanes(length);
}

// Whether the rows of a block are as they were when its steps were computed, as far as steps depend on them.
HWY_INLINE bool AreCurrent(const PathRows& path, std::size_t block, const Steps* steps) {
  float* const* rows = path.rows + block * path.features;
  std::uint32_t changed = 0;
  for (std::size_t first = 0; first < path.features; first += kLanes, rows += kLanes, ++steps) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    for (std::size_t f = 0; f < count; ++f) {
      std::uint32_t before;
      std::uint32_t now;
      std::memcpy(&before, &steps->before[f], sizeof before);
      std::memcpy(&now, rows[f], sizeof now);
      changed |= before ^ now;
    }
  }
  return changed == 0;
}

HWY_INLINE void MoveBySteps(const PathRows& path, std::size_t block, const V* changes, const Steps* steps) {
  float* const* rows = path.rows + block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes, rows += kLanes, ++steps) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    for (std::size_t f = 0; f < count; ++f) Move(rows[f], changes, steps->step[f], steps->growth[f]);
  }
}

// Of some nodes, side by side: f = (z, 1, y), and the matrix S by its upper half.
HWY_INLINE void TrainNodes(V z, V y, V towards, V h, V* numbers) {
  const V one = hn::Set(kFloat, 1.0F);
  const V forgotten = hn::Mul(h, hn::Set(kFloat, 3e-5F));
  const V kept = hn::Sub(one, forgotten);
  const V f[3] = {KeptMargin(z), one, KeptMargin(y)};
  V* const s = numbers + Calibrator::kAA;
  const auto dot = [&](V a, V b, V c) { return hn::Add(hn::Add(hn::Mul(a, f[0]), b), hn::Mul(c, f[2])); };
  const V k[3] = {dot(s[0], s[1], s[2]), dot(s[1], s[3], s[4]), dot(s[2], s[4], s[5])};
  const V v = hn::Max(dot(k[0], k[1], k[2]), hn::Zero(kFloat));
  // With e = exp(-m): p = 1 / (1 + e) and g = (1 + e)^2 / ((1 + e)^2 + h e v), by one division.
  const V e = Exp(hn::Neg(Kept(Calibrated(z, y, numbers), -20.0F, 20.0F)));
  const V sum = hn::Add(one, e);
  const V square = hn::Mul(sum, sum);
  const V information = hn::Mul(h, e);  // times the square
  const V divisor = hn::Add(square, hn::Mul(information, v));
  const V inverse = hn::Div(one, hn::Mul(sum, divisor));
  const V p = hn::Mul(divisor, inverse);
  const V taken = hn::Mul(hn::Mul(information, sum), inverse);
  const V g = hn::Mul(hn::Mul(square, sum), inverse);
  const V right = hn::IfThenElseZero(hn::Gt(towards, hn::Zero(kFloat)), one);
  const V step = hn::Mul(hn::Mul(h, hn::Sub(right, p)), g);
  for (int i = 0; i < 3; ++i) numbers[i] = hn::Add(numbers[i], hn::Mul(k[i], step));
  constexpr float kFirst[6] = {0.1F, 0, 0, 0.5F, 0, 0.1F};
  for (int i = 0, at = 0; i < 3; ++i) {
    const V taken_k = hn::Mul(taken, k[i]);
    for (int j = i; j < 3; ++j, ++at) {
      s[at] = hn::Mul(kept, hn::Sub(s[at], hn::Mul(taken_k, k[j])));
      if (i == j) s[at] = hn::Add(s[at], hn::Mul(forgotten, hn::Set(kFloat, kFirst[at])));
    }
  }
}

// Finds where the numbers of the nodes of all groups are. Without branches, which would be unpredictable at the end of
// a path.
HWY_INLINE void FindNodes(const UpdateStep& update_step, const Groups& groups, float* no_node, float** nodes) {
  for (std::size_t at = 0; at < groups.padded; ++at, nodes += kGroup) {
    const Group& group = groups.groups[at];
    float* const bases[] = {no_node, update_step.calibrators[group.block]->floats.data()};
    for (std::size_t i = 0; i < kGroup; ++i) {
      const std::size_t lane = group.nodes()[i];
      nodes[i] = bases[lane != 0 ? 1 : 0] + Calibrator::kOffsets[lane];
    }
  }
}

// The calibrators of some blocks learn. In three passes, so that vectors that are computed do not wait for one another.
HWY_NOINLINE void TrainCalibrators(const UpdateStep& update_step, const Groups& groups, const LaneErrors& errors) {
  HWY_ALIGN float no_node[kLanes] = {};  // for lanes that belong to none
  float* nodes[kBlocksTogether * kLanes];
  FindNodes(update_step, groups, no_node, nodes);
  V numbers[kBlocksTogether * kParts][Calibrator::kNumbers];
  const std::size_t vectors = groups.padded / kGroupsInVector;
  for (std::size_t i = 0; i < vectors; ++i) {
    LoadFourNumbers(nodes + i * kStep, Calibrator::kA, numbers[i]);
    LoadFourNumbers(nodes + i * kStep, Calibrator::kAB, numbers[i] + Calibrator::kAB);
    numbers[i][Calibrator::kCC] = NumberOf(kFloat, nodes + i * kStep, Calibrator::kCC);
  }
  const V h = hn::Set(kFloat, HWY_MIN(update_step.importance, 1.0F));
  for (std::size_t i = 0; i < vectors; ++i) {
    const Group* const some = groups.groups + i * kGroupsInVector;
    const V z = hn::Load(kFloat, errors.z + i * kStep);
    const V towards = hn::Load(kFloat, errors.towards + i * kStep);
    TrainNodes(z, ScaledMarginsOf(some), towards, h, numbers[i]);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    HWY_ALIGN float last[kStep];
    hn::Store(numbers[i][Calibrator::kCC], kFloat, last);
    StoreFourNumbers(numbers[i], nodes + i * kStep, Calibrator::kA);
    StoreFourNumbers(numbers[i] + Calibrator::kAB, nodes + i * kStep, Calibrator::kAB);
    for (std::size_t lane = 0; lane < kStep; ++lane) nodes[i * kStep + lane][Calibrator::kCC] = last[lane];
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

// The numbers of the groups of a block, in their places of a row.
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
  const auto find_steps = [&](std::size_t b) {
    const float length = ComputeSafeSteps(path, b, growth * squares[b], scratch);
    const float u = HWY_MAX(length, 1e-36F);
    times.q[b] = HWY_MIN(rate * u, 1e30F);
    times.inverse_u[b] = 1.0F / u;
  };
  // One pass after the other, so that what is stored one by one need not be loaded as a vector at once.
  for (std::size_t b = 0; b < path.blocks; ++b) {
    if (squares[b] != 0) FindAllBefore(path, b, scratch);
  }
  // The steps of all blocks take long, but do not wait for one another. Blocks seldom share rows.
  for (std::size_t b = 0; b < path.blocks; ++b) {
    if (squares[b] != 0) find_steps(b);
  }
  ComputeChanges<kLoss>(groups, 0, groups.count, times, errors);
  for (std::size_t b = 0; b < path.blocks; ++b) {
    if (squares[b] == 0) continue;
    if (b > 0 && !AreCurrent(path, b, scratch.of_block(b))) {
      FindAllBefore(path, b, scratch);
      find_steps(b);
      ComputeChanges<kLoss>(groups, groups.begin(b), groups.end(b), times, errors);
    }
    V changes[kParts];
    SpreadGroups(groups, b, errors.change, changes);
    MoveBySteps(path, b, changes, scratch.of_block(b));
  }
}

// At most kBlocksTogether blocks.
template <Loss kLoss, Update kUpdate>
HWY_INLINE void TrainSome(const PathRows& path, const UpdateStep& update_step) {
  Groups groups;
  FindGroups(update_step.targets, update_step.estimates, path.blocks, groups);
  const auto scale = static_cast<float>(static_cast<double>(update_step.importance) / update_step.squared_length);
  LaneErrors errors;
  ComputeErrors<kLoss, kUpdate>(groups, hn::Set(kFloat, kUpdate == Update::kSafe ? 1.0F : scale), errors);
  float squares[kBlocksTogether];
  for (std::size_t b = 0; b < path.blocks; ++b) {
    squares[b] = SumOfSquares(errors.error + groups.begin(b) * kGroup, update_step.targets[b]->count);
  }
  if (update_step.calibrators != nullptr) TrainCalibrators(update_step, groups, errors);
  if constexpr (kUpdate == Update::kSafe) {
    MoveSafely<kLoss>(path, update_step, groups, squares, errors);
  } else {
    // One block after the other: they may share rows.
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

void Train(const PathRows& path, const UpdateStep& update_step) {
  if (update_step.update == Update::kSafe) FindValues(path, Scratch(update_step.scratch, path.features).values);
  PathRows some = path;
  UpdateStep step = update_step;
  for (std::size_t left = path.blocks; left > 0; left -= some.blocks) {
    some.blocks = HWY_MIN(left, blocks_together(path.features));
    if (update_step.loss == Loss::kLogistic) {
      TrainLoss<Loss::kLogistic>(some, step);
    } else {
      TrainLoss<Loss::kSquared>(some, step);
    }
    some.rows += some.blocks * path.features;
    step.estimates += some.blocks;
    step.targets += some.blocks;
    if (step.calibrators != nullptr) step.calibrators += some.blocks;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpt {

HWY_EXPORT(Train);

void train_blocks(const PathRows& path, const UpdateStep& update_step) {
  HWY_DYNAMIC_DISPATCH(Train)(path, update_step);
}

}  // namespace cpt
#endif  // HWY_ONCE
