// Functions that the vector kernels of this folder share. Included once for each instruction set, by Highway's
// foreach_target.h: each kernel file sets HWY_TARGET_INCLUDE to itself and includes foreach_target.h before this.
#if defined(CPT_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CPT_VECTOR_MATH_INL_H
#undef CPT_VECTOR_MATH_INL_H
#else
#define CPT_VECTOR_MATH_INL_H
#endif

#include <hwy/highway.h>

#include "model/weights/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Float = hn::CappedTag<float, kLanes>;
using Int = hn::RebindToSigned<Float>;
using V = hn::Vec<Float>;
constexpr Float kFloat;
constexpr Int kInt;
using Byte = hn::Rebind<std::uint8_t, Float>;  // as many bytes as a vector has floats
constexpr Byte kByte;
constexpr std::size_t kStep = hn::MaxLanes(kFloat);
constexpr std::size_t kParts = kLanes / kStep;  // vectors per row

// The functions below take vectors of any length.
template <class W>
HWY_INLINE W Same(W /*as*/, float value) {
  return hn::Set(hn::DFromV<W>(), value);
}

// exp(z) = 2^n * (1 + e), |ln(1 + e)| <= ln(2) / 2, with the polynomial of the Cephes library. z in [-87, 87].
template <class W>
struct Power {
  W two_to_n;
  W e;
};
template <class W>
HWY_INLINE Power<W> PowerOf(W z) {
  const hn::DFromV<W> tag;
  const hn::RebindToSigned<hn::DFromV<W>> int_tag;
  const auto exponent = hn::NearestInt(hn::Mul(z, hn::Set(tag, 1.44269504F)));
  const W n = hn::ConvertTo(tag, exponent);
  W r = hn::Sub(z, hn::Mul(n, hn::Set(tag, 0.693359375F)));
  r = hn::Sub(r, hn::Mul(n, hn::Set(tag, -2.12194440e-4F)));
  W p = hn::Set(tag, 1.9875691500e-4F);
  for (float c : {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F}) {
    p = hn::Add(hn::Mul(p, r), hn::Set(tag, c));
  }
  const auto two_to_n = hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(int_tag, 127)));
  return {hn::BitCast(tag, two_to_n), hn::Add(hn::Mul(p, hn::Mul(r, r)), r)};
}

// exp(z), within 2e-7 relative.
template <class W>
HWY_INLINE W Exp(W z) {
  const Power<W> power = PowerOf(z);
  return hn::Mul(hn::Add(power.e, Same(z, 1.0F)), power.two_to_n);
}

// exp(z) - 1, within 4e-7 relative.
template <class W>
HWY_INLINE W ExpMinus1(W z) {
  const Power<W> power = PowerOf(z);
  return hn::Add(hn::Mul(power.two_to_n, power.e), hn::Sub(power.two_to_n, Same(z, 1.0F)));
}

// ln(z) for normal z >= 1, at most 0.06 less: z = 2^n m as n ln(2) + (m - 1) ln(2).
template <class W>
HWY_INLINE W RoughLog(W z) {
  const hn::DFromV<W> tag;
  const hn::RebindToSigned<hn::DFromV<W>> int_tag;
  const W bits = hn::ConvertTo(tag, hn::BitCast(int_tag, z));
  return hn::Mul(hn::Sub(hn::Mul(bits, Same(z, 0x1p-23F)), Same(z, 127.0F)), Same(z, 0.693147181F));
}

template <class W>
HWY_INLINE W Kept(W z, float least, float most) {
  return hn::Min(hn::Max(z, Same(z, least)), Same(z, most));
}

// An infinite margin must not pass for certainty; inf - inf is NaN.
template <class W>
HWY_INLINE W NaNWhereNotFinite(W z, W p) {
  return hn::IfThenElse(hn::IsFinite(z), p, hn::Sub(z, z));
}

template <class W>
HWY_INLINE W Sigmoid(W z) {
  const W one = Same(z, 1.0F);
  return hn::Div(one, hn::Add(one, Exp(hn::Neg(Kept(z, -87.0F, 87.0F)))));
}

template <Loss kLoss, class W>
HWY_INLINE W Probability(W z) {
  if constexpr (kLoss == Loss::kLogistic) {
    return NaNWhereNotFinite(z, Sigmoid(z));
  } else {
    return NaNWhereNotFinite(z, Kept(z, 0.0F, 1.0F));
  }
}

// The margins of a node as its calibrator takes them.
template <class W>
HWY_INLINE W KeptMargin(W z) {
  return Kept(z, -30.0F, 30.0F);
}

// m = a z + b + c y; numbers: a, b and c.
template <class W>
HWY_INLINE W Calibrated(W z, W y, const W* numbers) {
  return hn::Add(hn::Add(hn::Mul(numbers[0], KeptMargin(z)), numbers[1]), hn::Mul(numbers[2], KeptMargin(y)));
}

template <class W>
HWY_INLINE W CalibratedProbability(W z, W y, const W* numbers) {
  const W m = Calibrated(z, y, numbers);
  return NaNWhereNotFinite(hn::Add(hn::Add(z, y), m), Sigmoid(hn::Mul(Same(z, 1.05F), m)));
}

// Loads the first `count` >= 1 floats, at most a full vector, padded with zeros.
HWY_INLINE V LoadFirst(const float* from, std::size_t count) {
// Masked-out floats cannot fault on AVX2 either, though Highway does not promise it.
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

// The same for bytes.
HWY_INLINE hn::Vec<Byte> LoadFirst(const std::uint8_t* from, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  if (count >= kStep) return hn::LoadU(kByte, from);
  // Put together in words: a load of bytes just stored one by one would wait for the stores.
  std::uint64_t words[(kStep + 7) / 8] = {};
  for (std::size_t i = 0; i < count; ++i) words[i / 8] |= std::uint64_t{from[i]} << (8 * (i % 8));
  return hn::LoadU(kByte, reinterpret_cast<const std::uint8_t*>(words));
#else
  return hn::MaskedLoad(hn::FirstN(kByte, count), kByte, from);
#endif
}

// Lane i plus lane i + half of all lanes, and so on down to one: the same order for vectors of any length.
template <class Tag>
HWY_INLINE float FoldedSum([[maybe_unused]] Tag tag, hn::Vec<Tag> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(tag) > 1) {
    constexpr hn::Half<Tag> kHalf;
    return FoldedSum(kHalf, hn::Add(hn::LowerHalf(kHalf, v), hn::UpperHalf(kHalf, v)));
  }
#endif
  return hn::GetLane(v);
}

// The sum of the sixteen lanes of kParts vectors.
HWY_INLINE float SumOfLanes(const V* parts) {
  V sums[kParts];
  for (std::size_t part = 0; part < kParts; ++part) sums[part] = parts[part];
  for (std::size_t half = kParts / 2; half > 0; half /= 2) {
    for (std::size_t part = 0; part < half; ++part) sums[part] = hn::Add(sums[part], sums[part + half]);
  }
  return FoldedSum(kFloat, sums[0]);
}

HWY_INLINE std::size_t LeftOf(const RowsAhead* ahead) { return ahead == nullptr ? 0 : ahead->left(); }

// Takes the next `count` rows off the list; the caller prefetches them.
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
  const std::size_t at_a_feature =
      LeftOf(path.ahead) / 2 / HWY_MAX(features, 1);  // half; MoveSome() prefetches the rest
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

#endif  // CPT_VECTOR_MATH_INL_H
