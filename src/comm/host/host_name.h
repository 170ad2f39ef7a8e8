// The name of this machine.
#pragma once

#include <string>

namespace cpt {

// As the system tells it; "unknown host" if it does not.
std::string host_name();

}  // namespace cpt
