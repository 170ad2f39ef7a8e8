// What the random numbers of a synthetic log are drawn for (data/draws.h).
#pragma once

#include <cstdint>

namespace cpt {

inline constexpr std::uint64_t kEventPurpose = 1;
inline constexpr std::uint64_t kPagePurpose = 2;
inline constexpr std::uint64_t kWordsPurpose = 3;
inline constexpr std::uint64_t kPlacePurpose = 4;
inline constexpr std::uint64_t kTopicPurpose = 5;

}  // namespace cpt
