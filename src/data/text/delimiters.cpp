#include "data/text/delimiters.h"

#include <bit>
#include <cstring>

#include "core/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/text/delimiters.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

static_assert(std::endian::native == std::endian::little);

namespace hn = hwy::HWY_NAMESPACE;
using Bytes = hn::CappedTag<std::uint8_t, 64>;
using V = hn::Vec<Bytes>;
constexpr Bytes kBytes;
constexpr std::size_t kStep = hn::MaxLanes(kBytes);

// The marks of 64 bytes.
HWY_INLINE std::uint64_t Mark(const std::uint8_t* bytes, V a, V b, V c, V d) {
  constexpr std::uint64_t kOfStep = ~std::uint64_t{0} >> (64 - kStep);
  std::uint64_t mark = 0;
  for (std::size_t i = 0; i < 64; i += kStep) {
    const V v = hn::LoadU(kBytes, bytes + i);
    const auto found = hn::Or(hn::Or(hn::Eq(v, a), hn::Eq(v, b)), hn::Or(hn::Eq(v, c), hn::Eq(v, d)));
    std::uint8_t bits[sizeof mark] = {};
    hn::StoreMaskBits(kBytes, found, bits);
    std::uint64_t part = 0;
    std::memcpy(&part, bits, sizeof part);
    mark |= (part & kOfStep) << i;
  }
  return mark;
}

void MarkDelimiters(std::string_view text, const DelimiterSet& set, std::uint64_t* marks) {
  const V a = hn::Set(kBytes, static_cast<std::uint8_t>(set.bytes()[0]));
  const V b = hn::Set(kBytes, static_cast<std::uint8_t>(set.bytes()[1]));
  const V c = hn::Set(kBytes, static_cast<std::uint8_t>(set.bytes()[2]));
  const V d = hn::Set(kBytes, static_cast<std::uint8_t>(set.bytes()[3]));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::size_t size = text.size();
  std::size_t at = 0;
  for (; at + 64 <= size; at += 64) *marks++ = Mark(bytes + at, a, b, c, d);
  const std::size_t left = size - at;
  std::uint64_t last = 0;
  if (left == 0) {
    *marks = ~last;
    return;
  }
  if (size >= 64) {  // the last 64 bytes, some of them for the second time
    last = Mark(bytes + size - 64, a, b, c, d) >> (64 - left);
  } else {
    std::uint8_t copy[64] = {};
    std::memcpy(copy, bytes, size);
    last = Mark(copy, a, b, c, d);
  }
  *marks = last | ~std::uint64_t{0} << left;
}

const char* DelimiterTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpt {

HWY_EXPORT(MarkDelimiters);
HWY_EXPORT(DelimiterTarget);

void mark_delimiters(std::string_view text, const DelimiterSet& set, std::uint64_t* marks) {
  HWY_DYNAMIC_DISPATCH(MarkDelimiters)(text, set, marks);
}

const char* delimiter_target() { return HWY_DYNAMIC_DISPATCH(DelimiterTarget)(); }

}  // namespace cpt
#endif  // HWY_ONCE
