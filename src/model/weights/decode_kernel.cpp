#include <array>

#include "core/vector_targets.h"
#include "model/weights/hadamard_code.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/weights/decode_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "model/weights/vector_math-inl.h"

#ifndef CPT_MODEL_DECODE_TABLES
#define CPT_MODEL_DECODE_TABLES
namespace cpt {

// The sign with which each lane enters the estimates at sixteen positions, [lane][position]: 1 if its row does not
// contain the position's column, -1 if it does, 0 if the lane belongs to another node or the position is no column.
// Lane 0 is the constant row.
struct Signs {
  alignas(64) std::array<Row, kLanes> rows{};
};

// For positions first .. first + 15.
constexpr Signs make_signs(int arity, std::uint32_t first) {
  Signs signs;
  for (std::uint32_t position = first < 2 ? 2 : first; position < first + 16; ++position) {
    const WideNode node = node_of_slot(arity, position / 2);
    const int levels_below = static_cast<int>(std::bit_width(position) - std::bit_width(node.slot));
    if (static_cast<std::uint32_t>(levels_below) != node.levels) continue;
    const std::uint32_t column = position - (node.slot << node.levels);
    signs.rows[0][position - first] = 1;
    for (std::uint32_t lane = 1; lane < kLanes; ++lane) {
      if (node_of_slot(arity, lane).slot != node.slot) continue;
      signs.rows[lane][position - first] = row_contains(node, lane, column) ? -1.0F : 1.0F;
    }
  }
  return signs;
}

inline constexpr Signs kLowerOfFour = make_signs(4, 0);
inline constexpr Signs kUpperOfFour = make_signs(4, 16);
inline constexpr Signs kLowerOfEight = make_signs(8, 0);
inline constexpr Signs kUpperOfSixteen = make_signs(16, 16);

}  // namespace cpt
#endif  // CPT_MODEL_DECODE_TABLES

HWY_BEFORE_NAMESPACE();
namespace cpt {
namespace HWY_NAMESPACE {

// estimates[c] = sum over lanes of (1 - 2 lane) * sign, where the constant row adds its sign alone. 0 if the sum is
// negative or bit c of `occupied` is 0.
HWY_INLINE void EstimateColumns(const Row& lanes, const Signs& signs, std::uint32_t occupied, float* estimates) {
  V sum[kParts];
  for (std::size_t part = 0; part < kParts; ++part) {
    sum[part] = hn::Load(kFloat, signs.rows[0].data() + part * kStep);
  }
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    const V centred = hn::Set(kFloat, 1.0F - 2.0F * lanes[lane]);
    for (std::size_t part = 0; part < kParts; ++part) {
      const V sign = hn::Load(kFloat, signs.rows[lane].data() + part * kStep);
      sum[part] = hn::Add(sum[part], hn::Mul(centred, sign));
    }
  }
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::uint32_t bits = occupied >> (part * kStep);
    const std::uint8_t bytes[8] = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8)};
    const auto present = hn::LoadMaskBits(kFloat, bytes);
    const auto negative = hn::Lt(sum[part], hn::Zero(kFloat));  // false for NaN, which stays
    hn::StoreU(hn::IfThenElseZero(present, hn::IfThenElse(negative, hn::Zero(kFloat), sum[part])), kFloat,
               estimates + part * kStep);
  }
}

// right / total, lane by lane; 1/2 if total is 0, NaN if total is NaN.
HWY_INLINE void Divide(const Row& rights, const Row& totals, Row& sides) {
  for (std::size_t lane = 0; lane < kLanes; lane += kStep) {
    const V total = hn::LoadU(kFloat, totals.data() + lane);
    const V side = hn::Div(hn::LoadU(kFloat, rights.data() + lane), total);
    const V none = hn::Set(kFloat, 0.5F);
    hn::StoreU(hn::IfThenElse(hn::Eq(total, hn::Zero(kFloat)), none, side), kFloat, sides.data() + lane);
  }
}

// Decodes one block. A template, so that the loop over the slots has no branches.
template <int kArity>
HWY_INLINE void DecodeBlock(std::uint32_t occupied, Row& lanes) {
  constexpr std::size_t kSlots = kArity == 8 ? 8 : 16;  // slots 8 .. 15 are binary nodes
  float at[32];  // by position: the estimate of a column, or the sum of the estimates below a slot
  if constexpr (kArity != 16) EstimateColumns(lanes, kArity == 4 ? kLowerOfFour : kLowerOfEight, occupied, at);
  if constexpr (kArity != 8)
    EstimateColumns(lanes, kArity == 4 ? kUpperOfFour : kUpperOfSixteen, occupied >> 16, at + 16);
  Row rights{};
  Row totals{};
#pragma GCC unroll 16
  for (std::size_t slot = kSlots - 1; slot >= 1; --slot) {
    rights[slot] = at[2 * slot + 1];
    totals[slot] = at[2 * slot] + at[2 * slot + 1];
    // The top slot of a node already has the estimate of a column of the node above.
    if (node_of_slot(kArity, static_cast<std::uint32_t>(slot)).slot != slot) at[slot] = totals[slot];
  }
  Row sides;
  Divide(rights, totals, sides);
  for (std::size_t slot = 1; slot < kSlots; ++slot) lanes[slot] = sides[slot];
}

template <int kArity>
void DecodeBlocks(const std::uint32_t* occupied, std::size_t blocks, Row* lanes) {
  for (std::size_t b = 0; b < blocks; ++b) DecodeBlock<kArity>(occupied[b], lanes[b]);
}

void Decode(const std::uint32_t* occupied, std::size_t blocks, int arity, Row* lanes) {
  if (arity == 4) return DecodeBlocks<4>(occupied, blocks, lanes);
  if (arity == 8) return DecodeBlocks<8>(occupied, blocks, lanes);
  DecodeBlocks<16>(occupied, blocks, lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace cpt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpt {

HWY_EXPORT(Decode);

void decode_columns(const std::uint32_t* occupied, std::size_t blocks, int arity, Row* lanes) {
  HWY_DYNAMIC_DISPATCH(Decode)(occupied, blocks, arity, lanes);
}

}  // namespace cpt
#endif  // HWY_ONCE
