// What one line may hold at most.
#pragma once

#include <cstddef>

#include "core/input_limits.h"  // kMaxValue

namespace cpt {

// Lane 0 of a line sums squares in a float (model/kernels.h). An error is no larger than the importance, so a block of
// 15 regressors adds at most 1.5e25; and a float that has become 2^25 times as large as what is added, 5e32, stays what
// it is. That leaves a factor of 6e5 for the sums that replicas make of theirs.
inline constexpr double kMaxImportance = 1e12;
inline constexpr const char* kImportanceExpected = "an importance above 0 and at most 1e12";

// Bytes, without the line end.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 24;

// Features of all examples of a line, crosses included: pairs of a few thousand things would otherwise fill the memory.
inline constexpr std::size_t kMaxLineFeatures = std::size_t{1} << 24;

}  // namespace cpt
