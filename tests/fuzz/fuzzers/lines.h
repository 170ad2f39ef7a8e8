// Text of one format, through its parser, in every way that options have it read.
#pragma once

#include <cstdint>
#include <span>

#include "cpt/input.h"

namespace cpt {

// Aborts where a line is neither rejected nor becomes examples that a learner can take.
void fuzz_lines(Format format, std::span<const std::uint8_t> text);
// The same for a table, whose first line is its header.
void fuzz_table(std::span<const std::uint8_t> text);

}  // namespace cpt
