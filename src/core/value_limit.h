// How large a value of a feature may be.
#pragma once

namespace cpt {

// No value, scale or product of values may be larger in size.
inline constexpr double kMaxValue = 1e30;

}  // namespace cpt
