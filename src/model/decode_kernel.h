// The vector kernel of conditional PECOC: from the regressors of a block to the probabilities of its sides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels.h"

namespace cpt {

// In place, block by block: from lane s = the estimate of row s (block_code.h), to lane s = P(right) of slot s, so that
// the product of the sides on the path to a child is the child's estimate. ways is 4, 8 or 16 (of 2 there is nothing to
// decode). occupied[b]: BlockContent::occupied of block b.
//
// The paper's estimate of a column c of k, with r_m the estimate of row m, is
//   2 * mean over the k rows of (C(m, c) r_m + (1 - C(m, c)) (1 - r_m)) - 1
// where the constant row counts as right. Estimates below 0 become 0, columns that nothing hangs at become 0, and the
// rest is divided by its sum (where that is 0, all sides are 1/2). Clipping brings every estimate nearer to the truth
// or leaves it; the estimates of all k columns add up to 1 before it, so the sum S of what is kept exceeds 1 by no more
// than what was clipped away, or falls short of 1 by no more than what empty columns had: dividing adds at most
// |S - 1| to the error of a node's children, all of them taken together. NaN where a row is NaN.
void decode_columns(const std::uint32_t* occupied, std::size_t blocks, int ways, Line* lanes);

}  // namespace cpt
