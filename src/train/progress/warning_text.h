// Warnings of a rank on their way to rank 0, which tells them.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"

namespace cpt {

// One text; every line begins with rank and host.
std::string join_warnings(const Communicator& comm, const std::vector<std::string>& warnings);
// The lines of such a text.
std::vector<std::string> split_warnings(ConstBytes bytes);

}  // namespace cpt
