// The limit of --on-error skip:N.
#pragma once

#include <cstdint>
#include <optional>

#include "cpt/error.h"

namespace cpt {

// What to throw if more lines were skipped, by all ranks together, than the user allows.
std::optional<Error> excess_of_bad_lines(std::uint64_t skipped, std::optional<std::uint64_t> most);

}  // namespace cpt
