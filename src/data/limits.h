// What one line may hold at most.
#pragma once

#include <cstddef>

namespace cpt {

// No value, scale, product of values or importance may be larger in size.
inline constexpr double kMaxValue = 1e30;

// Bytes, without the line end.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 24;

// Features of all examples of a line, crosses included: pairs of a few thousand things would otherwise fill the memory.
inline constexpr std::size_t kMaxLineFeatures = std::size_t{1} << 24;

}  // namespace cpt
