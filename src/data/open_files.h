// The limit of open files of this process.
#pragma once

#include <cstddef>

namespace cpt {

// Raises the soft limit, up to the hard one, so that `count` more files can be opened. Throws Error(kFailed), saying
// both numbers and what to do, if the hard limit does not allow it.
void allow_open_files(std::size_t count);

}  // namespace cpt
