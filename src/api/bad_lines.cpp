#include "api/bad_lines.h"

#include <string>

namespace cpt {

std::optional<Error> excess_of_bad_lines(std::uint64_t skipped, std::optional<std::uint64_t> most) {
  if (!most || skipped <= *most) return std::nullopt;
  return Error(Fault::kBadData, std::to_string(skipped) + (skipped == 1 ? " bad line was" : " bad lines were") +
                                    " skipped, more than the " + std::to_string(*most) + " that --on-error allows");
}

}  // namespace cpt
