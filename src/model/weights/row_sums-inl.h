// The margins of the regressors of a path. Included once for each instruction set, as vector_math-inl.h.
#if defined(CPT_ROW_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CPT_ROW_SUMS_INL_H
#undef CPT_ROW_SUMS_INL_H
#else
#define CPT_ROW_SUMS_INL_H
#endif

#include "model/weights/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

HWY_INLINE std::size_t LeftOf(const RowsAhead* ahead) {
  return ahead == nullptr ? 0 : ahead->count - ahead->prefetched;
}

// The next `count` of them, which the caller prefetches.
HWY_INLINE float* const* Take(RowsAhead* ahead, std::size_t count) {
  if (ahead == nullptr) return nullptr;
  float* const* const rows = ahead->rows + ahead->prefetched;
  ahead->prefetched += count;
  return rows;
}

// How many blocks are summed side by side, so that their sums do not wait for one another: a path has five or six. Six
// if the sums of a block fit one register, otherwise as many as there are registers for.
template <bool kCalibrated>
constexpr std::size_t kMostBlocks = kParts == 1 ? 6 : (kCalibrated ? 2 : 4);

template <std::size_t kBlocks, bool kCalibrated, bool kTrained>
HWY_INLINE void SumSome(const PathRows& path, std::size_t first, Estimate* estimates) {
  const std::size_t features = path.features;
  const float* const* rows = path.rows + first * features;
  [[maybe_unused]] const std::size_t stride = padded(features);
  [[maybe_unused]] float* before = nullptr;
  if constexpr (kTrained) {
    before = path.before + first * stride;
    for (std::size_t b = 1; b <= kBlocks; ++b) {
      for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
        hn::StoreU(hn::Zero(kFloat), kFloat, before + b * stride - kLanes + lane);
      }
    }
  }
  V sum[kBlocks * kParts];
  V scaled_sum[kCalibrated ? kBlocks * kParts : 1];
  for (V& part : sum) part = hn::Zero(kFloat);
  for (V& part : scaled_sum) part = hn::Zero(kFloat);
  const std::size_t at_a_feature = LeftOf(path.ahead) / 2 / HWY_MAX(features, 1);  // the rest when the rows move
  float* const* ahead = Take(path.ahead, at_a_feature * features);
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t i = 0; i < at_a_feature; ++i) __builtin_prefetch(*ahead++, 1);
    const V x = hn::Set(kFloat, path.values[f]);
    const V scaled = kCalibrated ? hn::Set(kFloat, path.scaled[f]) : x;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const float* row = rows[b * features + f];
      for (std::size_t part = 0; part < kParts; ++part) {
        const V weights = hn::Load(kFloat, row + part * kStep);
        if constexpr (kTrained) {
          if (part == 0) before[b * stride + f] = hn::GetLane(weights);
        }
        V& to = sum[b * kParts + part];
        to = hn::Add(to, hn::Mul(x, weights));
        if constexpr (kCalibrated) {
          V& scaled_to = scaled_sum[b * kParts + part];
          scaled_to = hn::Add(scaled_to, hn::Mul(scaled, weights));
        }
      }
    }
  }
  for (std::size_t b = 0; b < kBlocks; ++b) {
    Estimate& estimate = estimates[first + b];
    for (std::size_t part = 0; part < kParts; ++part) {
      hn::Store(sum[b * kParts + part], kFloat, estimate.margin.data() + part * kStep);
      if constexpr (kCalibrated) {
        hn::Store(scaled_sum[b * kParts + part], kFloat, estimate.scaled.data() + part * kStep);
      }
    }
  }
}

// The margins of the last blocks from `first` on, at most kBlocks.
template <std::size_t kBlocks, bool kCalibrated, bool kTrained>
HWY_INLINE void SumLast(const PathRows& path, std::size_t first, Estimate* estimates) {
  if constexpr (kBlocks > 0) {
    if (path.blocks - first == kBlocks) return SumSome<kBlocks, kCalibrated, kTrained>(path, first, estimates);
    SumLast<kBlocks - 1, kCalibrated, kTrained>(path, first, estimates);
  }
}

template <bool kCalibrated, bool kTrained>
HWY_INLINE void SumAll(const PathRows& path, Estimate* estimates) {
  constexpr std::size_t kMost = kMostBlocks<kCalibrated>;
  std::size_t first = 0;
  for (; path.blocks - first >= kMost; first += kMost) SumSome<kMost, kCalibrated, kTrained>(path, first, estimates);
  SumLast<kMost - 1, kCalibrated, kTrained>(path, first, estimates);
}

template <bool kCalibrated>
HWY_INLINE void Sum(const PathRows& path, Estimate* estimates) {
  if (path.before != nullptr) {
    SumAll<kCalibrated, true>(path, estimates);
  } else {
    SumAll<kCalibrated, false>(path, estimates);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#endif  // CPT_ROW_SUMS_INL_H
