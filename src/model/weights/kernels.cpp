#include "model/weights/kernels.h"

#include "core/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/weights/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "model/weights/lane_groups-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

template <Loss kLoss>
HWY_INLINE void PredictAll(const PathRows& path, Estimate* estimates) {
  Sum<false>(path, estimates);
  for (std::size_t b = 0; b < path.blocks; ++b) {
    for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
      const V z = hn::Load(kFloat, estimates[b].margin.data() + lane);
      hn::Store(Probability<kLoss>(z), kFloat, estimates[b].right.data() + lane);
    }
  }
}

HWY_INLINE void PredictCalibrated(const PathRows& path, const Calibrator* const* calibrators, Estimate* estimates) {
  Sum<true>(path, estimates);
  for (std::size_t b = 0; b < path.blocks; ++b) {
    for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
      const float* nodes[kStep];
      for (std::size_t i = 0; i < kStep; ++i) nodes[i] = calibrators[b]->node(lane + i);
      V numbers[4];
      LoadFourNumbers(kFloat, nodes, Calibrator::kA, numbers);
      const V z = hn::Load(kFloat, estimates[b].margin.data() + lane);
      const V y = hn::Load(kFloat, estimates[b].scaled.data() + lane);
      hn::Store(CalibratedProbability(z, y, numbers), kFloat, estimates[b].right.data() + lane);
    }
  }
}

void Predict(const PathRows& path, Loss loss, const Calibrator* const* calibrators, Estimate* estimates) {
  if (calibrators != nullptr) {
    PredictCalibrated(path, calibrators, estimates);
  } else if (loss == Loss::kLogistic) {
    PredictAll<Loss::kLogistic>(path, estimates);
  } else {
    PredictAll<Loss::kSquared>(path, estimates);
  }
}

// P(right) of the trained lanes of some blocks, from their margins.
HWY_INLINE void PredictTrained(const LaneTargets* const* targets, const Calibrator* const* calibrators,
                               std::size_t blocks, Estimate* estimates) {
  Groups groups;
  FindGroups(targets, estimates, blocks, groups);
  ForVectors(kFloat, 0, groups.count, [&](auto tag, std::size_t at) HWY_ATTR {
    constexpr std::size_t kVectorLanes = hn::MaxLanes(tag);
    const Group* const some = groups.groups + at;
    const float* nodes[kVectorLanes];
    for (std::size_t g = 0; g < kVectorLanes / kGroup; ++g) {
      const Calibrator& calibrator = *calibrators[some[g].block];
      for (std::size_t i = 0; i < kGroup; ++i) nodes[g * kGroup + i] = calibrator.node(some[g].lanes()[i]);
    }
    hn::Vec<decltype(tag)> numbers[4];
    LoadFourNumbers(tag, nodes, Calibrator::kA, numbers);
    StoreRight(tag, CalibratedProbability(MarginsOf(tag, some), ScaledMarginsOf(tag, some), numbers), some, estimates);
  });
}

void PredictPath(const PathRows& path, const LaneTargets* const* targets, const Calibrator* const* calibrators,
                 Estimate* estimates) {
  Sum<true>(path, estimates);
  for (std::size_t first = 0; first < path.blocks; first += kBlocksTogether) {
    PredictTrained(targets + first, calibrators + first, HWY_MIN(path.blocks - first, kBlocksTogether),
                   estimates + first);
  }
}

// The squares of the first `count` rarities, at most a vector of them.
HWY_INLINE V SquaredRarities(const Rarity* rarities, std::size_t count) {
  const V rarity = hn::ConvertTo(kFloat, hn::PromoteTo(kInt, LoadFirst(rarities, count)));
  return hn::Mul(rarity, rarity);
}

bool Scale(const float* values, const Rarity* rarities, std::size_t features, float* scaled) {
  const V zero = hn::Zero(kFloat);
  V squares[kParts];
  V rare_squares[kParts];
  for (V& part : squares) part = zero;
  for (V& part : rare_squares) part = zero;
  auto is_small = hn::FirstN(kFloat, kStep);
  for (std::size_t first = 0; first < features; first += kLanes) {
    const std::size_t count = HWY_MIN(features - first, kLanes);
    for (std::size_t part = 0; part < kParts && part * kStep < count; ++part) {
      const std::size_t at = first + part * kStep;
      const V rare = SquaredRarities(rarities + at, features - at);
      const V value = LoadFirst(values + at, features - at);
      is_small = hn::And(is_small, hn::Le(hn::Abs(value), hn::Set(kFloat, kMostSafeValue)));
      const V square = hn::IfThenElseZero(hn::Ne(rare, zero), hn::Mul(value, value));
      squares[part] = hn::Add(squares[part], square);
      rare_squares[part] = hn::Add(rare_squares[part], hn::Mul(square, rare));
    }
  }
  const float sum = SumOfLanes(squares);
  const float rare_sum = SumOfLanes(rare_squares);
  const V ratio = hn::Set(kFloat, rare_sum > 0 ? sum / rare_sum : 0);
  // The squares are found again: keeping them in `scaled` would wait for memory that was just written.
  for (std::size_t f = 0; f < features; f += kStep) {
    const V factor = hn::Mul(SquaredRarities(rarities + f, features - f), ratio);
    const V value = LoadFirst(values + f, features - f);
    const V same = hn::IfThenElse(hn::Eq(factor, zero), hn::Set(kFloat, 1.0F), factor);
    hn::StoreU(hn::Mul(value, same), kFloat, scaled + f);
  }
  return !hn::AllTrue(kFloat, is_small);
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

HWY_EXPORT(Scale);
HWY_EXPORT(Predict);
HWY_EXPORT(PredictPath);
HWY_EXPORT(Find);
HWY_EXPORT(Target);

bool scale_values(std::span<const float> values, std::span<const Rarity> rarities, float* scaled) {
  return HWY_DYNAMIC_DISPATCH(Scale)(values.data(), rarities.data(), rarities.size(), scaled);
}

void predict_blocks(const PathRows& path, Loss loss, const Calibrator* const* calibrators, Estimate* estimates) {
  HWY_DYNAMIC_DISPATCH(Predict)(path, loss, calibrators, estimates);
}

void predict_path(const PathRows& path, const LaneTargets* const* targets, const Calibrator* const* calibrators,
                  Estimate* estimates) {
  HWY_DYNAMIC_DISPATCH(PredictPath)(path, targets, calibrators, estimates);
}

void find_rows(std::span<const FeatureHash> features, std::uint64_t key, const Region& region, float* table,
               float** out) {
  HWY_DYNAMIC_DISPATCH(Find)(features.data(), features.size(), key, region, table, out);
}

const char* kernel_target() { return HWY_DYNAMIC_DISPATCH(Target)(); }

}  // namespace cpt
#endif  // HWY_ONCE
