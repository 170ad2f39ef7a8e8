#include "model/weights/kernels.h"

// Scalable vectors cannot be array elements, and a row is always sixteen lanes.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/weights/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Float = hn::CappedTag<float, kLanes>;
using Int = hn::RebindToSigned<Float>;
using V = hn::Vec<Float>;
constexpr Float kFloat;
constexpr Int kInt;
constexpr std::size_t kStep = hn::MaxLanes(kFloat);
constexpr std::size_t kParts = kLanes / kStep;  // vectors per row

// exp by 2^n * exp(r), |r| <= ln(2) / 2, with the polynomial of the Cephes library. z in [-87, 87].
HWY_INLINE V Exp(V z) {
  const V n = hn::Round(hn::Mul(z, hn::Set(kFloat, 1.44269504F)));
  V r = hn::Sub(z, hn::Mul(n, hn::Set(kFloat, 0.693359375F)));
  r = hn::Sub(r, hn::Mul(n, hn::Set(kFloat, -2.12194440e-4F)));
  V p = hn::Set(kFloat, 1.9875691500e-4F);
  for (float c : {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F}) {
    p = hn::Add(hn::Mul(p, r), hn::Set(kFloat, c));
  }
  p = hn::Add(hn::Add(hn::Mul(p, hn::Mul(r, r)), r), hn::Set(kFloat, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(kInt, n), hn::Set(kInt, 127)));
  return hn::Mul(p, hn::BitCast(kFloat, exponent));
}

// inf - inf is NaN: an infinite margin must not pass for certainty.
HWY_INLINE V NaNWhereNotFinite(V z, V p) { return hn::IfThenElse(hn::IsFinite(z), p, hn::Sub(z, z)); }

HWY_INLINE V Logistic(V z) {
  const V bounded = hn::Min(hn::Max(z, hn::Set(kFloat, -87.0F)), hn::Set(kFloat, 87.0F));
  const V one = hn::Set(kFloat, 1.0F);
  const V p = hn::Div(one, hn::Add(one, Exp(hn::Neg(bounded))));
  return NaNWhereNotFinite(z, p);
}

HWY_INLINE V Clipped(V z) {
  const V p = hn::Min(hn::Max(z, hn::Zero(kFloat)), hn::Set(kFloat, 1.0F));
  return NaNWhereNotFinite(z, p);
}

template <Loss kLoss>
HWY_INLINE V Probability(V z) {
  return kLoss == Loss::kLogistic ? Logistic(z) : Clipped(z);
}

// So many blocks side by side, so that neither their sums nor their exponentials wait for one another.
template <std::size_t kBlocks, Loss kLoss>
HWY_INLINE void PredictSome(const PathRows& path, std::size_t first, Row* probabilities) {
  const std::size_t features = path.features;
  const float* const* rows = path.rows + first * features;
  V sum[kBlocks * kParts];
  for (V& part : sum) part = hn::Zero(kFloat);
  for (std::size_t f = 0; f < features; ++f) {
    const V x = hn::Set(kFloat, path.values[f]);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const float* row = rows[b * features + f];
      for (std::size_t part = 0; part < kParts; ++part) {
        V& to = sum[b * kParts + part];
        to = hn::Add(to, hn::Mul(x, hn::Load(kFloat, row + part * kStep)));
      }
    }
  }
  for (std::size_t i = 0; i < kBlocks * kParts; ++i) {
    hn::StoreU(Probability<kLoss>(sum[i]), kFloat, probabilities[first + i / kParts].data() + i % kParts * kStep);
  }
}

// A path has five or six blocks. Six sums where those of a block are one register, else eight or sixteen.
constexpr std::size_t kMostBlocks = kParts == 1 ? 6 : 4;

// The last `kBlocks` blocks from `first` on, or fewer.
template <std::size_t kBlocks, Loss kLoss>
HWY_INLINE void PredictLast(const PathRows& path, std::size_t first, Row* probabilities) {
  if constexpr (kBlocks > 0) {
    if (path.blocks - first == kBlocks) return PredictSome<kBlocks, kLoss>(path, first, probabilities);
    PredictLast<kBlocks - 1, kLoss>(path, first, probabilities);
  }
}

template <Loss kLoss>
HWY_INLINE void PredictAll(const PathRows& path, Row* probabilities) {
  std::size_t first = 0;
  for (; path.blocks - first >= kMostBlocks; first += kMostBlocks) {
    PredictSome<kMostBlocks, kLoss>(path, first, probabilities);
  }
  PredictLast<kMostBlocks - 1, kLoss>(path, first, probabilities);
}

void Predict(const PathRows& path, Loss loss, Row* probabilities) {
  if (loss == Loss::kLogistic) {
    PredictAll<Loss::kLogistic>(path, probabilities);
  } else {
    PredictAll<Loss::kSquared>(path, probabilities);
  }
}

// Computes the errors of a block, 0 in lanes that are not trained, and returns the sum of their squares.
HWY_INLINE float Errors(const UpdateStep& update_step, std::size_t block, float* errors) {
  const V factor = hn::Set(kFloat, update_step.scale);
  const float* probabilities = update_step.probabilities[block].data();
  const LaneTargets& targets = *update_step.targets[block];
  for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
    const V p = hn::LoadU(kFloat, probabilities + lane);
    const V right = hn::LoadU(kFloat, targets.right.data() + lane);
    const V trained = hn::LoadU(kFloat, targets.trained.data() + lane);
    const V error = hn::Mul(hn::Sub(right, p), factor);
    hn::Store(hn::IfThenElseZero(hn::Ne(trained, hn::Zero(kFloat)), error), kFloat, errors + lane);
  }
  float sum = 0;
  for (std::size_t i = 0; i < targets.count; i += LaneTargets::kLanesTogether) {
    for (std::size_t j = 0; j < LaneTargets::kLanesTogether; ++j) {
      const float error = errors[targets.lanes[i + j]];
      sum += error * error;
    }
  }
  return sum;
}

// The first numbers of at least one, and zeros behind them where there are less than a vector holds.
HWY_INLINE V LoadFirst(const float* from, std::size_t count) {
// Highway does not promise it of AVX2, but there, too, what the mask leaves out of floats cannot fault.
#if HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2
  if (count >= kStep) return hn::LoadU(kFloat, from);
  if constexpr (kStep == 4) {
    // Put together in registers: a load of numbers just stored one by one would have to wait for them.
    constexpr hn::Half<Float> kPair;
    constexpr hn::Half<hn::Half<Float>> kOne;
    const auto last = hn::ZeroExtendVector(kPair, hn::LoadU(kOne, from + (count - 1)));
    if (count == 1) return hn::ZeroExtendVector(kFloat, last);
    const auto first = hn::LoadU(kPair, from);
    return count == 2 ? hn::ZeroExtendVector(kFloat, first) : hn::Combine(kFloat, last, first);
  }
  HWY_ALIGN float padded[kStep] = {};  // of wider vectors under sanitizers, which take masked loads for faults
  for (std::size_t i = 0; i < count; ++i) padded[i] = from[i];
  return hn::Load(kFloat, padded);
#else
  return hn::MaskedLoad(hn::FirstN(kFloat, count), kFloat, from);
#endif
}

// Lane 0 of the first rows of at least one, up to as many as a vector holds; behind them, zeros. Put together in
// registers: numbers that were just stored one by one would have to be waited for before they are loaded as one vector.
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

// Of up to kLanes features of one block; the lanes of others hold what does no harm.
struct Steps {
  Row step;
  Row growth;  // of G
};

HWY_INLINE void ComputeSteps(const PathRows& path, std::size_t begin, std::size_t first, std::size_t count,
                             float squares, const UpdateStep& update_step, Steps& steps) {
  // Keeps the first step finite where the growth is too small for a float.
  const V tiny = hn::Set(kFloat, 1e-36F);
  // What is moved at all counts as used, even where the growth is too small for a float.
  const V least = hn::Set(kFloat, 1e-37F);
  for (std::size_t lane = 0; lane < count; lane += kStep) {
    const V value = LoadFirst(path.values + first + lane, count - lane);
    const V growth = hn::Mul(hn::Mul(value, hn::Set(kFloat, squares)), value);
    V step = hn::Mul(value, hn::Set(kFloat, update_step.rate));
    if (update_step.update == Update::kAdaptive) {
      const V after = hn::Add(FirstLanes(kFloat, path.rows + begin + first + lane, count - lane), growth);
      step = hn::Div(step, hn::Sqrt(hn::Add(after, tiny)));
    }
    hn::StoreU(step, kFloat, steps.step.data() + lane);
    hn::StoreU(hn::IfThenElse(hn::Lt(growth, least), least, growth), kFloat, steps.growth.data() + lane);
  }
}

// Adds `growth` to lane 0 and step * errors to the others.
HWY_INLINE void Move(float* row, const V* errors, float step, float growth) {
  const V vector_step = hn::Set(kFloat, step);
  for (std::size_t part = 0; part < kParts; ++part) {
    V change = hn::Mul(vector_step, errors[part]);
    if (part == 0) change = hn::IfThenElse(hn::FirstN(kFloat, 1), hn::Set(kFloat, growth), change);
    hn::Store(hn::Add(hn::Load(kFloat, row + part * kStep), change), kFloat, row + part * kStep);
  }
}

HWY_INLINE void UpdateBlock(const PathRows& path, std::size_t block, const float* errors, float squares,
                            const UpdateStep& update_step) {
  if (squares == 0) return;
  V parts[kParts];
  for (std::size_t part = 0; part < kParts; ++part) parts[part] = hn::Load(kFloat, errors + part * kStep);
  const std::size_t begin = block * path.features;
  for (std::size_t first = 0; first < path.features; first += kLanes) {
    const std::size_t count = HWY_MIN(path.features - first, kLanes);
    Steps steps;
    ComputeSteps(path, begin, first, count, squares, update_step, steps);
    float* const* rows = path.rows + begin + first;
    for (std::size_t f = 0; f < count; ++f) Move(rows[f], parts, steps.step[f], steps.growth[f]);
  }
}

// The errors of a few blocks first: their sums do not wait for one another.
void Train(const PathRows& path, const UpdateStep& update_step) {
  constexpr std::size_t kTogether = 8;
  HWY_ALIGN float errors[kTogether][kLanes];
  float squares[kTogether];
  for (std::size_t first = 0; first < path.blocks; first += kTogether) {
    const std::size_t blocks = HWY_MIN(path.blocks - first, kTogether);
    for (std::size_t b = 0; b < blocks; ++b) squares[b] = Errors(update_step, first + b, errors[b]);
    for (std::size_t b = 0; b < blocks; ++b) UpdateBlock(path, first + b, errors[b], squares[b], update_step);
  }
}

const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpt {

HWY_EXPORT(Predict);
HWY_EXPORT(Train);
HWY_EXPORT(Target);

void predict_blocks(const PathRows& path, Loss loss, Row* probabilities) {
  HWY_DYNAMIC_DISPATCH(Predict)(path, loss, probabilities);
}

void train_blocks(const PathRows& path, const UpdateStep& update_step) {
  HWY_DYNAMIC_DISPATCH(Train)(path, update_step);
}

const char* kernel_target() { return HWY_DYNAMIC_DISPATCH(Target)(); }

}  // namespace cpt
#endif  // HWY_ONCE
