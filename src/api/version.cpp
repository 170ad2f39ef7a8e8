#include "cpt/version.h"

namespace cpt {

const char* version() { return CPT_VERSION; }

}  // namespace cpt
