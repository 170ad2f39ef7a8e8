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

// An infinite margin must not pass for certainty; inf - inf is NaN.
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

// Predicts kBlocks blocks side by side, so that neither their sums nor their exponentials wait for one another.
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

// A path has five or six blocks. Six if the sums of a block fit one register, otherwise four in eight or sixteen.
constexpr std::size_t kMostBlocks = kParts == 1 ? 6 : 4;

// Predicts the last blocks from `first` on, at most kBlocks.
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

// Loads the first `count` >= 1 floats, at most a full vector, padded with zeros.
HWY_INLINE V LoadFirst(const float* from, std::size_t count) {
// Highway does not promise it for AVX2, but there too masked-out floats cannot fault.
#if HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2
  if (count >= kStep) return hn::LoadU(kFloat, from);
  if constexpr (kStep == 4) {
    // Put together in registers: loading numbers just stored one by one would wait for the stores.
    constexpr hn::Half<Float> kPair;
    constexpr hn::Half<hn::Half<Float>> kOne;
    const auto last = hn::ZeroExtendVector(kPair, hn::LoadU(kOne, from + (count - 1)));
    if (count == 1) return hn::ZeroExtendVector(kFloat, last);
    const auto first = hn::LoadU(kPair, from);
    return count == 2 ? hn::ZeroExtendVector(kFloat, first) : hn::Combine(kFloat, last, first);
  }
  HWY_ALIGN float padded[kStep] = {};  // wider vectors under sanitizers, which report masked loads as faults
  for (std::size_t i = 0; i < count; ++i) padded[i] = from[i];
  return hn::Load(kFloat, padded);
#else
  return hn::MaskedLoad(hn::FirstN(kFloat, count), kFloat, from);
#endif
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

HWY_INLINE void ComputeSteps(const PathRows& path, std::size_t begin, std::size_t first, std::size_t count,
                             float squares, const UpdateStep& update_step, Steps& steps) {
  // Keeps the first step finite when the growth is too small for a float.
  const V tiny = hn::Set(kFloat, 1e-36F);
  // A row that moved must count as used even when the growth is too small for a float.
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

// Computes the errors of a few blocks first, so that their sums do not wait for one another.
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

#if HWY_TARGET != HWY_SCALAR
using Word = hn::CappedTag<std::uint64_t, 8>;
using HalfWord = hn::Repartition<std::uint32_t, Word>;
constexpr Word kWord;
constexpr HalfWord kHalfWord;
constexpr std::size_t kWordStep = hn::MaxLanes(kWord);

// The products of the low halves of two numbers.
HWY_INLINE hn::Vec<Word> LowProduct(hn::Vec<Word> a, hn::Vec<Word> b) {
  return hn::MulEven(hn::BitCast(kHalfWord, a), hn::BitCast(kHalfWord, b));
}

// WeightTable::index() computed from 32-bit products: with h = feature * key in two halves,
// (h * rows) >> 64 = (high * rows + (low * rows >> 32)) >> 32, exactly, as long as rows < 2^32.
HWY_INLINE void FindSome(const FeatureHash* features, std::uint64_t key, const Region& region, float* table,
                         float** out) {
  const auto low_key = hn::Set(kWord, key);
  const auto rows = hn::Set(kWord, region.rows);
  const auto feature = hn::LoadU(kWord, features);
  const auto crossed =
      hn::Add(LowProduct(hn::ShiftRight<32>(feature), low_key), LowProduct(feature, hn::Set(kWord, key >> 32)));
  const auto hash = hn::Add(LowProduct(feature, low_key), hn::ShiftLeft<32>(crossed));
  const auto carried = hn::ShiftRight<32>(LowProduct(hash, rows));
  const auto scaled = hn::Add(LowProduct(hn::ShiftRight<32>(hash), rows), carried);
  const auto index = hn::Add(hn::ShiftRight<32>(scaled), hn::Set(kWord, region.first));
  const auto base = hn::Set(kWord, reinterpret_cast<std::uintptr_t>(table));
  static_assert(sizeof(Row) == 64 && sizeof(float*) == sizeof(std::uint64_t));
  hn::StoreU(hn::Add(base, hn::ShiftLeft<6>(index)), kWord, reinterpret_cast<std::uint64_t*>(out));
}
#endif

void Find(const FeatureHash* features, std::size_t count, std::uint64_t key, const Region& region, float* table,
          float** out) {
#if HWY_TARGET != HWY_SCALAR
  // With vectors of two words the scalar loop is as fast.
  if (kWordStep >= 4 && count >= kWordStep && region.rows >> 32 == 0) {
    for (std::size_t f = 0; f + kWordStep <= count; f += kWordStep) FindSome(features + f, key, region, table, out + f);
    // The last vector overlaps the one before it.
    if (count % kWordStep != 0) FindSome(features + count - kWordStep, key, region, table, out + count - kWordStep);
    return;
  }
#endif
  for (std::size_t f = 0; f < count; ++f) out[f] = table + WeightTable::index(features[f], key, region) * kLanes;
}

const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpt {

HWY_EXPORT(Predict);
HWY_EXPORT(Train);
HWY_EXPORT(Find);
HWY_EXPORT(Target);

void predict_blocks(const PathRows& path, Loss loss, Row* probabilities) {
  HWY_DYNAMIC_DISPATCH(Predict)(path, loss, probabilities);
}

void train_blocks(const PathRows& path, const UpdateStep& update_step) {
  HWY_DYNAMIC_DISPATCH(Train)(path, update_step);
}

void find_rows(std::span<const FeatureHash> features, std::uint64_t key, const Region& region, float* table,
               float** out) {
  HWY_DYNAMIC_DISPATCH(Find)(features.data(), features.size(), key, region, table, out);
}

const char* kernel_target() { return HWY_DYNAMIC_DISPATCH(Target)(); }

}  // namespace cpt
#endif  // HWY_ONCE
