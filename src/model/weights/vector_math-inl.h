// What the vector kernels of this folder have in common. Included once for each instruction set, by Highway's
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
constexpr std::size_t kStep = hn::MaxLanes(kFloat);
constexpr std::size_t kParts = kLanes / kStep;  // vectors per row

// exp(z) = 2^n * (1 + e), |ln(1 + e)| <= ln(2) / 2, with the polynomial of the Cephes library. z in [-87, 87].
struct Power {
  V two_to_n;
  V e;
};
HWY_INLINE Power PowerOf(V z) {
  const V n = hn::Round(hn::Mul(z, hn::Set(kFloat, 1.44269504F)));
  V r = hn::Sub(z, hn::Mul(n, hn::Set(kFloat, 0.693359375F)));
  r = hn::Sub(r, hn::Mul(n, hn::Set(kFloat, -2.12194440e-4F)));
  V p = hn::Set(kFloat, 1.9875691500e-4F);
  for (float c : {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F}) {
    p = hn::Add(hn::Mul(p, r), hn::Set(kFloat, c));
  }
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(kInt, n), hn::Set(kInt, 127)));
  return {hn::BitCast(kFloat, exponent), hn::Add(hn::Mul(p, hn::Mul(r, r)), r)};
}

// Within 2e-7 relative.
HWY_INLINE V Exp(V z) {
  const Power power = PowerOf(z);
  return hn::Mul(hn::Add(power.e, hn::Set(kFloat, 1.0F)), power.two_to_n);
}

// exp(z) - 1, within 4e-7 relative.
HWY_INLINE V ExpMinus1(V z) {
  const Power power = PowerOf(z);
  return hn::Add(hn::Mul(power.two_to_n, power.e), hn::Sub(power.two_to_n, hn::Set(kFloat, 1.0F)));
}

// ln(z) for normal z >= 1, at most 0.06 less: z = 2^n m as n ln(2) + (m - 1) ln(2).
HWY_INLINE V RoughLog(V z) {
  const V bits = hn::ConvertTo(kFloat, hn::BitCast(kInt, z));
  return hn::Mul(hn::Sub(hn::Mul(bits, hn::Set(kFloat, 0x1p-23F)), hn::Set(kFloat, 127.0F)),
                 hn::Set(kFloat, 0.693147181F));
}

HWY_INLINE V Kept(V z, float least, float most) {
  return hn::Min(hn::Max(z, hn::Set(kFloat, least)), hn::Set(kFloat, most));
}

// An infinite margin must not pass for certainty; inf - inf is NaN.
HWY_INLINE V NaNWhereNotFinite(V z, V p) { return hn::IfThenElse(hn::IsFinite(z), p, hn::Sub(z, z)); }

HWY_INLINE V Sigmoid(V z) {
  const V one = hn::Set(kFloat, 1.0F);
  return hn::Div(one, hn::Add(one, Exp(hn::Neg(Kept(z, -87.0F, 87.0F)))));
}

template <Loss kLoss>
HWY_INLINE V Probability(V z) {
  if constexpr (kLoss == Loss::kLogistic) {
    return NaNWhereNotFinite(z, Sigmoid(z));
  } else {
    return NaNWhereNotFinite(z, Kept(z, 0.0F, 1.0F));
  }
}

// The margins of a node as its calibrator takes them.
HWY_INLINE V KeptMargin(V z) { return Kept(z, -30.0F, 30.0F); }

constexpr float kSharper = 1.05F;

HWY_INLINE V Calibrated(V z, V y, const Calibrator& calibrator, std::size_t lane) {
  const V a = hn::Load(kFloat, calibrator.a.data() + lane);
  const V b = hn::Load(kFloat, calibrator.b.data() + lane);
  const V c = hn::Load(kFloat, calibrator.c.data() + lane);
  return hn::Add(hn::Add(hn::Mul(a, KeptMargin(z)), b), hn::Mul(c, KeptMargin(y)));
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

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#endif  // CPT_VECTOR_MATH_INL_H
