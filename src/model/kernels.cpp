#include "model/kernels.h"

// Scalable vectors cannot be array elements, and a line is always sixteen lanes.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/kernels.cpp"
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
constexpr std::size_t kParts = kLanes / kStep;  // vectors per line

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

// So many blocks side by side, so that their sums do not wait for one another. kTakes: whether `accumulators` is
// wanted.
template <std::size_t kBlocks, Loss kLoss, bool kTakes>
HWY_INLINE void PredictSome(const float* const* lines, const float* values, std::size_t features, Line* probabilities,
                            float* accumulators) {
  V sum[kBlocks * kParts];
  for (V& part : sum) part = hn::Zero(kFloat);
  for (std::size_t f = 0; f < features; ++f) {
    const V x = hn::Set(kFloat, values[f]);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const float* line = lines[b * features + f];
      for (std::size_t part = 0; part < kParts; ++part) {
        V& to = sum[b * kParts + part];
        to = hn::Add(to, hn::Mul(x, hn::Load(kFloat, line + part * kStep)));
      }
      if constexpr (kTakes) accumulators[b * features + f] = line[0];
    }
  }
  for (std::size_t i = 0; i < kBlocks * kParts; ++i) {
    hn::StoreU(Probability<kLoss>(sum[i]), kFloat, probabilities[i / kParts].data() + i % kParts * kStep);
  }
}

template <Loss kLoss, bool kTakes>
HWY_INLINE void PredictAll(const PathLines& path, Line* probabilities, float* accumulators) {
  const std::size_t features = path.features;
  const auto pass = [&]<std::size_t kBlocks>(std::size_t first) {
    float* to = kTakes ? accumulators + first * features : nullptr;
    PredictSome<kBlocks, kLoss, kTakes>(path.lines + first * features, path.values, features, probabilities + first,
                                        to);
    return first + kBlocks;
  };
  std::size_t b = 0;
  while (path.blocks - b >= 4) b = pass.template operator()<4>(b);
  if (path.blocks - b >= 2) b = pass.template operator()<2>(b);
  if (path.blocks - b >= 1) pass.template operator()<1>(b);
}

template <Loss kLoss>
HWY_INLINE void PredictWith(const PathLines& path, Line* probabilities, float* accumulators) {
  if (accumulators == nullptr) {
    PredictAll<kLoss, false>(path, probabilities, nullptr);
  } else {
    PredictAll<kLoss, true>(path, probabilities, accumulators);
  }
}

void Predict(const PathLines& path, Loss loss, Line* probabilities, float* accumulators) {
  if (loss == Loss::kLogistic) {
    PredictWith<Loss::kLogistic>(path, probabilities, accumulators);
  } else {
    PredictWith<Loss::kSquared>(path, probabilities, accumulators);
  }
}

// Of so many blocks from `first` on; lane 0 is the sum of the squares of the others.
HWY_INLINE void Errors(const Lesson& lesson, std::size_t first, std::size_t blocks, Line* errors) {
  const V factor = hn::Set(kFloat, lesson.scale);
  for (std::size_t b = 0; b < blocks; ++b) {
    const Line& probability = lesson.probabilities[first + b];
    const Targets& targets = *lesson.targets[first + b];
    Line squares;
    for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
      const V p = hn::LoadU(kFloat, probability.data() + lane);
      const V right = hn::LoadU(kFloat, targets.right.data() + lane);
      const V trained = hn::LoadU(kFloat, targets.trained.data() + lane);
      const V error = hn::Mul(hn::Mul(hn::Sub(right, p), factor), trained);
      hn::StoreU(error, kFloat, errors[b].data() + lane);
      hn::StoreU(hn::Mul(error, error), kFloat, squares.data() + lane);
    }
    float sum = 0;
    for (std::size_t s = 1; s < kLanes; ++s) sum += squares[s];
    errors[b][0] = sum;
  }
}

// Adds `growth` to lane 0 and step * errors to the others.
HWY_INLINE void Move(float* line, const V* errors, float step, float growth) {
  const V vector_step = hn::Set(kFloat, step);
  for (std::size_t part = 0; part < kParts; ++part) {
    V change = hn::Mul(vector_step, errors[part]);
    if (part == 0) change = hn::IfThenElse(hn::FirstN(kFloat, 1), hn::Set(kFloat, growth), change);
    hn::Store(hn::Add(hn::Load(kFloat, line + part * kStep), change), kFloat, line + part * kStep);
  }
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

// Of up to kLanes features of one block; the lanes of others hold what does no harm.
struct Steps {
  Line step;
  Line growth;  // of G
};

HWY_INLINE void ComputeSteps(const float* values, const float* accumulators, std::size_t features, float squares,
                             Update update, float rate, Steps& steps) {
  // Keeps the first step finite where the growth is too small for a float.
  const V tiny = hn::Set(kFloat, 1e-36F);
  // What is moved at all counts as used, even where the growth is too small for a float.
  const V least = hn::Set(kFloat, 1e-37F);
  for (std::size_t lane = 0; lane < features; lane += kStep) {
    const V value = LoadFirst(values + lane, features - lane);
    const V growth = hn::Mul(hn::Mul(value, hn::Set(kFloat, squares)), value);
    V step = hn::Mul(value, hn::Set(kFloat, rate));
    if (update == Update::kAdaptive) {
      const V after = hn::Add(LoadFirst(accumulators + lane, features - lane), growth);
      step = hn::Div(step, hn::Sqrt(hn::Add(after, tiny)));
    }
    hn::StoreU(step, kFloat, steps.step.data() + lane);
    hn::StoreU(hn::IfThenElse(hn::Lt(growth, least), least, growth), kFloat, steps.growth.data() + lane);
  }
}

// A line that occurs more than once may have moved since.
HWY_INLINE void BringUp(float* accumulators, const float* const* lines, std::size_t features) {
  for (std::size_t f = 0; f < features; ++f) {
    if (accumulators[f] != lines[f][0]) accumulators[f] = lines[f][0];
  }
}

// Of one block.
HWY_INLINE void UpdateBlock(float* const* lines, const float* values, std::size_t features, const Line& errors,
                            float* accumulators, const Lesson& lesson) {
  const float squares = errors[0];
  if (squares == 0) return;
  V parts[kParts];
  for (std::size_t part = 0; part < kParts; ++part) parts[part] = hn::LoadU(kFloat, errors.data() + part * kStep);
  Steps steps;
  for (std::size_t begin = 0; begin < features; begin += kLanes) {
    const std::size_t count = HWY_MIN(features - begin, kLanes);
    BringUp(accumulators + begin, lines + begin, count);
    ComputeSteps(values + begin, accumulators + begin, count, squares, lesson.update, lesson.rate, steps);
    for (std::size_t f = 0; f < count; ++f) Move(lines[begin + f], parts, steps.step[f], steps.growth[f]);
  }
}

// The errors of a few blocks first: their sums do not wait for one another.
void Train(const PathLines& path, const Lesson& lesson, float* accumulators) {
  constexpr std::size_t kTogether = 8;
  Line errors[kTogether];
  for (std::size_t first = 0; first < path.blocks; first += kTogether) {
    const std::size_t blocks = HWY_MIN(path.blocks - first, kTogether);
    Errors(lesson, first, blocks, errors);
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t begin = (first + b) * path.features;
      UpdateBlock(path.lines + begin, path.values, path.features, errors[b], accumulators + begin, lesson);
    }
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

void predict_blocks(const PathLines& path, Loss loss, Line* probabilities, float* accumulators) {
  HWY_DYNAMIC_DISPATCH(Predict)(path, loss, probabilities, accumulators);
}

void train_blocks(const PathLines& path, const Lesson& lesson, float* accumulators) {
  HWY_DYNAMIC_DISPATCH(Train)(path, lesson, accumulators);
}

const char* kernel_target() { return HWY_DYNAMIC_DISPATCH(Target)(); }

}  // namespace cpt
#endif  // HWY_ONCE
