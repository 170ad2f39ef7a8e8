// The vector kernel of conditional PECOC: from the regressors of a block to the probabilities of its sides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/weights/kernels.h"

namespace cpt {

// In place, block by block: from lane s = the estimate of row s (block_code.h), to lane s = P(right) of slot s, so that
// the product of the sides on the path to a child is the child's estimate. ways is 4, 8 or 16 (of 2 there is nothing to
// decode). occupied[b]: BlockNodes::occupied of block b.
//
// The paper's estimate of a column c of k, with r_m the estimate of row m, is
//   2 * mean over the k rows of (C(m, c) r_m + (1 - C(m, c)) (1 - r_m)) - 1
// where the constant row counts as right. Estimates below 0 become 0, columns that nothing hangs at become 0, and the
// rest is divided by its sum (where that is 0, all sides are 1/2). Clipping and leaving out empty columns bring an
// estimate nearer to the truth or leave it. Dividing costs the PECOC lemma its bound: normalized_pecoc_bound() of
// model/bounds.h is what holds then. NaN where a row is NaN.
void decode_columns(const std::uint32_t* occupied, std::size_t blocks, int ways, Row* lanes);

}  // namespace cpt
