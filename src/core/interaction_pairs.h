// What --interactions takes.
#pragma once

#include <string>
#include <vector>

namespace cpt {

// Throws Error(kUsage) that names the first interaction that is not two bytes long.
void require_pairs(const std::vector<std::string>& interactions);

}  // namespace cpt
