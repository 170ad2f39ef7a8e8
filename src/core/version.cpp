#include "core/version.h"

#include "cpt/version.h"

namespace cpt {

const char* version() { return kVersion; }

}  // namespace cpt
