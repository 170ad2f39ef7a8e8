#include "model/weights/kernels.h"

// Scalable vectors cannot be array elements, and a row is always sixteen lanes.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/weights/train_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "model/weights/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

// What training knows of a few blocks, by lane. A few together, so that their sums do not wait for one another.
constexpr std::size_t kBlocksTogether = 8;
struct BlockErrors {
  HWY_ALIGN float error[kBlocksTogether][kLanes];  // 0 in lanes that are not trained; without sign if safe and logistic
  HWY_ALIGN float power[kBlocksTogether][kLanes];  // safe and logistic: exp(v)
  float squares[kBlocksTogether];
};

HWY_INLINE V MarginTowards(V z, V target) {
  return Kept(hn::IfThenElse(hn::Gt(target, hn::Zero(kFloat)), z, hn::Neg(z)), -60.0F, 20.0F);
}

template <Loss kLoss, Update kUpdate>
HWY_INLINE void ComputeErrors(const UpdateStep& update_step, std::size_t block, V factor, float* errors,
                              float* powers) {
  const LaneTargets& targets = *update_step.targets[block];
  for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
    const V z = hn::Load(kFloat, update_step.estimates[block].margin.data() + lane);
    const V target = hn::LoadU(kFloat, targets.right.data() + lane);
    const auto trained = hn::Ne(hn::LoadU(kFloat, targets.trained.data() + lane), hn::Zero(kFloat));
    V error;
    if constexpr (kUpdate == Update::kSafe && kLoss == Loss::kLogistic) {
      const V power = Exp(MarginTowards(z, target));
      hn::Store(power, kFloat, powers + lane);
      const V one = hn::Set(kFloat, 1.0F);
      error = hn::Div(one, hn::Add(one, power));
    } else {
      error = hn::Mul(hn::Sub(target, Probability<kLoss>(z)), factor);
    }
    hn::Store(hn::IfThenElseZero(trained, error), kFloat, errors + lane);
  }
}

HWY_INLINE float SumOfSquares(const LaneTargets& targets, const float* errors) {
  float sum = 0;
  for (std::size_t i = 0; i < targets.count; i += LaneTargets::kLanesTogether) {
    for (std::size_t j = 0; j < LaneTargets::kLanesTogether; ++j) {
      const float error = errors[targets.lanes[i + j]];
      sum += error * error;
    }
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

// What the safe step adds to the margins of trained lanes, over u.
template <Loss kLoss>
HWY_INLINE void ComputeChanges(const UpdateStep& update_step, std::size_t block, const float* errors,
                               const float* powers, float length, float rate, V* changes) {
  const LaneTargets& targets = *update_step.targets[block];
  const float u = HWY_MAX(length, 1e-36F);
  const V inverse_u = hn::Set(kFloat, 1.0F / u);
  const V q = hn::Set(kFloat, HWY_MIN(rate * u, 1e30F));
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t lane = part * kStep;
    const V z = hn::Load(kFloat, update_step.estimates[block].margin.data() + lane);
    const V target = hn::LoadU(kFloat, targets.right.data() + lane);
    const V error = hn::Load(kFloat, errors + lane);
    V way;
    if constexpr (kLoss == Loss::kLogistic) {
      way = LogisticFlow(MarginTowards(z, target), hn::Load(kFloat, powers + lane), error, q);
      way = hn::IfThenElse(hn::Gt(target, hn::Zero(kFloat)), way, hn::Neg(way));
    } else {
      way = hn::Mul(hn::Sub(z, target), ExpMinus1(hn::Neg(hn::Min(q, hn::Set(kFloat, 87.0F)))));
    }
    // Lanes that are not trained have an error of 0.
    changes[part] = hn::IfThenElseZero(hn::Ne(error, hn::Zero(kFloat)), hn::Mul(way, inverse_u));
  }
}

// Gathers lane 0 of the first `count` >= 1 rows, at most a full vector, padded with zeros. Put together in registers:
// loading as one vector numbers that were just stored one by one would wait for the stores.
template <class Tag>
HWY_INLINE hn::Vec<Tag> FirstLanes(Tag tag, const float* const* rows, std::size_t count) {
#if HWY_TARGET == HWY_SCALAR
  (void)count;
  return hn::LoadU(tag, rows[0]);
#else
  if constexpr (hn::MaxLanes(tag) == 1) {
    return hn::LoadU(tag, rows[0]);
  } else {
    constexpr hn::Half<Tag> kHalf;
    constexpr std::size_t kLower = hn::MaxLanes(kHalf);
    const auto lower = FirstLanes(kHalf, rows, count);
    if (count <= kLower) return hn::ZeroExtendVector(tag, lower);
    return hn::Combine(tag, FirstLanes(kHalf, rows + kLower, count - kLower), lower);
  }
#endif
}

// For up to kLanes features of one block; further lanes hold harmless values.
struct Steps {
  Row step;
  Row growth;  // of G, by feature
};

// Adds to `length` lane i the products of values and steps of the features i, i + kLanes, ...
template <Update kUpdate>
HWY_INLINE void ComputeSteps(const PathRows& path, std::size_t begin, std::size_t first, std::size_t count,
                             float squares, float rate, Steps& steps, V* length) {
  // Keeps the first step finite when the growth is too small for a float.
  const V tiny = hn::Set(kFloat, 1e-36F);
  // A row that moved must count as used even when the growth is too small for a float.
  const V least = hn::Set(kFloat, 1e-37F);
  for (std::size_t lane = 0; lane < count; lane += kStep) {
    const V value = LoadFirst(path.values + first + lane, count - lane);
    const V growth = hn::Mul(hn::Mul(value, hn::Set(kFloat, squares)), value);
    V step = hn::Mul(value, hn::Set(kFloat, rate));
    if constexpr (kUpdate != Update::kSgd) {
      V after = hn::Add(FirstLanes(kFloat, path.rows + begin + first + lane, count - lane), growth);
      if constexpr (kUpdate == Update::kSafe) {
        after = hn::Add(after, hn::Mul(hn::Mul(value, value), hn::Set(kFloat, 0.2F)));
      }
      step = hn::Div(step, hn::Sqrt(hn::Add(after, tiny)));
    }
    if constexpr (kUpdate == Update::kSafe) {
      length[lane / kStep] = hn::Add(length[lane / kStep], hn::Mul(value, step));
    }
    hn::StoreU(step, kFloat, steps.step.data() + lane);
    hn::StoreU(hn::IfThenElse(hn::Lt(growth, least), least, growth), kFloat, steps.growth.data() + lane);
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
HWY_INLINE void MoveByErrors(const PathRows& path, std::size_t block, const float* errors, float squares,
                             const UpdateStep& update_step) {
  if (squares == 0) return;
  V parts[kParts];
  for (std::size_t part = 0; part < kParts; ++part) parts[part] = hn::Load(kFloat, errors + part * kStep);
  const std::size_t begin = block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    Steps steps;
    ComputeSteps<kUpdate>(path, begin, first, count, squares, update_step.rate, steps, nullptr);
    float* const* rows = path.rows + begin + first;
    for (std::size_t f = 0; f < count; ++f) Move(rows[f], parts, steps.step[f], steps.growth[f]);
  }
}

// Safe: computes the steps of a block and returns u.
HWY_INLINE float ComputeSafeSteps(const PathRows& path, std::size_t block, float squares, Steps* steps) {
  V length[kParts];
  for (V& part : length) part = hn::Zero(kFloat);
  const std::size_t begin = block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes, ++steps) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    ComputeSteps<Update::kSafe>(path, begin, first, count, squares, 1, *steps, length);
  }
  return SumOfLanes(length);
}

HWY_INLINE void MoveBySteps(const PathRows& path, std::size_t block, const V* changes, const Steps* steps) {
  const std::size_t begin = block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes, ++steps) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    float* const* rows = path.rows + begin + first;
    for (std::size_t f = 0; f < count; ++f) Move(rows[f], changes, steps->step[f], steps->growth[f]);
  }
}

// That of a block, if it has one. Lane by lane: f = (z, 1, y), and the matrix S by its upper half.
HWY_INLINE void TrainCalibrator(const UpdateStep& update_step, std::size_t block) {
  if (update_step.calibrators == nullptr) return;
  const Estimate& estimate = update_step.estimates[block];
  const LaneTargets& targets = *update_step.targets[block];
  Calibrator& calibrator = *update_step.calibrators[block];
  const V one = hn::Set(kFloat, 1.0F);
  const V h = hn::Set(kFloat, HWY_MIN(update_step.importance, 1.0F));
  const V forgotten = hn::Mul(h, hn::Set(kFloat, 3e-5F));
  const V kept = hn::Sub(one, forgotten);
  for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
    const auto is_node = hn::Ne(hn::LoadU(kFloat, targets.nodes.data() + lane), hn::Zero(kFloat));
    if (hn::AllFalse(kFloat, is_node)) continue;
    const V z = hn::Load(kFloat, estimate.margin.data() + lane);
    const V y = hn::Load(kFloat, estimate.scaled.data() + lane);
    const V f[3] = {KeptMargin(z), one, KeptMargin(y)};
    Row* const covariances[6] = {&calibrator.s_aa, &calibrator.s_ab, &calibrator.s_ac,
                                 &calibrator.s_bb, &calibrator.s_bc, &calibrator.s_cc};
    constexpr float kFirst[6] = {0.1F, 0, 0, 0.5F, 0, 0.1F};
    V s[6];
    for (int i = 0; i < 6; ++i) s[i] = hn::Load(kFloat, covariances[i]->data() + lane);
    const auto dot = [&](V a, V b, V c) { return hn::Add(hn::Add(hn::Mul(a, f[0]), b), hn::Mul(c, f[2])); };
    const V k[3] = {dot(s[0], s[1], s[2]), dot(s[1], s[3], s[4]), dot(s[2], s[4], s[5])};
    const V v = hn::Max(dot(k[0], k[1], k[2]), hn::Zero(kFloat));
    // With e = exp(-m): p = 1 / (1 + e) and g = (1 + e)^2 / ((1 + e)^2 + h e v), by one division.
    const V e = Exp(hn::Neg(Kept(Calibrated(z, y, calibrator, lane), -20.0F, 20.0F)));
    const V sum = hn::Add(one, e);
    const V square = hn::Mul(sum, sum);
    const V information = hn::Mul(h, e);  // times the square
    const V divisor = hn::Add(square, hn::Mul(information, v));
    const V inverse = hn::Div(one, hn::Mul(sum, divisor));
    const V p = hn::Mul(divisor, inverse);
    const V taken = hn::Mul(hn::Mul(information, sum), inverse);
    const V g = hn::Mul(hn::Mul(square, sum), inverse);
    const V step = hn::Mul(hn::Mul(h, hn::Sub(hn::LoadU(kFloat, targets.right.data() + lane), p)), g);
    Row* const coefficients[3] = {&calibrator.a, &calibrator.b, &calibrator.c};
    // Whole vectors are stored: some processors take many times as long for a masked store.
    const auto store = [&](V before, V after, Row& row) {
      hn::Store(hn::IfThenElse(is_node, after, before), kFloat, row.data() + lane);
    };
    for (int i = 0; i < 3; ++i) {
      const V before = hn::Load(kFloat, coefficients[i]->data() + lane);
      store(before, hn::Add(before, hn::Mul(k[i], step)), *coefficients[i]);
    }
    for (int i = 0, at = 0; i < 3; ++i) {
      const V taken_k = hn::Mul(taken, k[i]);
      for (int j = i; j < 3; ++j, ++at) {
        V after = hn::Mul(kept, hn::Sub(s[at], hn::Mul(taken_k, k[j])));
        if (i == j) after = hn::Add(after, hn::Mul(forgotten, hn::Set(kFloat, kFirst[at])));
        store(s[at], after, *covariances[at]);
      }
    }
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

template <Loss kLoss, Update kUpdate>
HWY_INLINE void TrainRows(const PathRows& path, const UpdateStep& update_step, std::size_t first, std::size_t blocks) {
  BlockErrors errors;
  const auto scale = static_cast<float>(static_cast<double>(update_step.importance) / update_step.squared_length);
  const V factor = hn::Set(kFloat, kUpdate == Update::kSafe ? 1.0F : scale);
  for (std::size_t b = 0; b < blocks; ++b) {
    ComputeErrors<kLoss, kUpdate>(update_step, first + b, factor, errors.error[b], errors.power[b]);
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    errors.squares[b] = SumOfSquares(*update_step.targets[first + b], errors.error[b]);
  }
  if constexpr (kUpdate != Update::kSafe) {
    for (std::size_t b = 0; b < blocks; ++b) {
      MoveByErrors<kUpdate>(path, first + b, errors.error[b], errors.squares[b], update_step);
      TrainCalibrator(update_step, first + b);
    }
  } else {
    const float h = update_step.importance;
    const float growth = h <= 1 ? h : 1 + LogOf(h);
    const auto rate = static_cast<float>(
        HWY_MIN(static_cast<double>(update_step.rate) * static_cast<double>(update_step.importance), 1e30));
    auto* const steps = reinterpret_cast<Steps*>(update_step.scratch);
    // One block after the other: they may share rows. A calibrator learns between the two long computations of its
    // block, neither of which it waits for: a processor does that at the same time.
    for (std::size_t b = 0; b < blocks; ++b) {
      const float length = ComputeSafeSteps(path, first + b, growth * errors.squares[b], steps);
      TrainCalibrator(update_step, first + b);
      if (errors.squares[b] == 0) continue;
      V changes[kParts];
      ComputeChanges<kLoss>(update_step, first + b, errors.error[b], errors.power[b], length, rate, changes);
      MoveBySteps(path, first + b, changes, steps);
    }
  }
}

template <Loss kLoss>
HWY_INLINE void TrainLoss(const PathRows& path, const UpdateStep& update_step, std::size_t first, std::size_t blocks) {
  switch (update_step.update) {
    case Update::kAdaptive:
      return TrainRows<kLoss, Update::kAdaptive>(path, update_step, first, blocks);
    case Update::kSgd:
      return TrainRows<kLoss, Update::kSgd>(path, update_step, first, blocks);
    case Update::kSafe:
      return TrainRows<kLoss, Update::kSafe>(path, update_step, first, blocks);
  }
}

void Train(const PathRows& path, const UpdateStep& update_step) {
  for (std::size_t first = 0; first < path.blocks; first += kBlocksTogether) {
    const std::size_t blocks = HWY_MIN(path.blocks - first, kBlocksTogether);
    if (update_step.loss == Loss::kLogistic) {
      TrainLoss<Loss::kLogistic>(path, update_step, first, blocks);
    } else {
      TrainLoss<Loss::kSquared>(path, update_step, first, blocks);
    }
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
