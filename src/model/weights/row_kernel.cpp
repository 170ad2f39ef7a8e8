#include "model/weights/row_kernel.h"

// Scalable vectors have no length that is known here.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/weights/row_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using Wide = hn::CappedTag<std::uint64_t, 8>;
using Narrow = hn::Repartition<std::uint32_t, Wide>;
constexpr Wide kWide;
constexpr Narrow kNarrow;
constexpr std::size_t kStep = hn::MaxLanes(kWide);

// The products of the low halves of two numbers.
HWY_INLINE hn::Vec<Wide> LowProduct(hn::Vec<Wide> a, hn::Vec<Wide> b) {
  return hn::MulEven(hn::BitCast(kNarrow, a), hn::BitCast(kNarrow, b));
}

// As WeightTable::index() does, of numbers of 32 bits: with h = feature * key in two halves,
// (h * rows) >> 64 = (high * rows + (low * rows >> 32)) >> 32, exactly, as long as rows < 2^32.
HWY_INLINE void FindSome(const FeatureHash* features, std::uint64_t key, const Region& region, float* table,
                         float** out) {
  const auto low_key = hn::Set(kWide, key);
  const auto rows = hn::Set(kWide, region.rows);
  const auto feature = hn::LoadU(kWide, features);
  const auto crossed =
      hn::Add(LowProduct(hn::ShiftRight<32>(feature), low_key), LowProduct(feature, hn::Set(kWide, key >> 32)));
  const auto hash = hn::Add(LowProduct(feature, low_key), hn::ShiftLeft<32>(crossed));
  const auto carried = hn::ShiftRight<32>(LowProduct(hash, rows));
  const auto scaled = hn::Add(LowProduct(hn::ShiftRight<32>(hash), rows), carried);
  const auto index = hn::Add(hn::ShiftRight<32>(scaled), hn::Set(kWide, region.first));
  const auto base = hn::Set(kWide, reinterpret_cast<std::uintptr_t>(table));
  static_assert(sizeof(Row) == 64 && sizeof(float*) == sizeof(std::uint64_t));
  hn::StoreU(hn::Add(base, hn::ShiftLeft<6>(index)), kWide, reinterpret_cast<std::uint64_t*>(out));
}
#endif

void Find(const FeatureHash* features, std::size_t count, std::uint64_t key, const Region& region, float* table,
          float** out) {
#if HWY_TARGET != HWY_SCALAR
  // Vectors of two take as long as one after the other.
  if (kStep >= 4 && count >= kStep && region.rows >> 32 == 0) {
    for (std::size_t f = 0; f + kStep <= count; f += kStep) FindSome(features + f, key, region, table, out + f);
    // The last ones together with some that are found already.
    if (count % kStep != 0) FindSome(features + count - kStep, key, region, table, out + count - kStep);
    return;
  }
#endif
  for (std::size_t f = 0; f < count; ++f) out[f] = table + WeightTable::index(features[f], key, region) * kLanes;
}

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpt {

HWY_EXPORT(Find);

void find_rows(std::span<const FeatureHash> features, std::uint64_t key, const Region& region, float* table,
               float** out) {
  HWY_DYNAMIC_DISPATCH(Find)(features.data(), features.size(), key, region, table, out);
}

}  // namespace cpt
#endif  // HWY_ONCE
