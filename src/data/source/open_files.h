// The limit of open files of this process.
#pragma once

#include <cstddef>
#include <string>

namespace cpt {

// Advice to ranks.
inline constexpr const char* kIfTooManyShards = "use more ranks or fewer and larger shards (a smaller --split)";

// Raises the soft limit, up to the hard one, so that `count` more files can be opened. Throws Error(kFailed), saying
// both numbers and what to do, if the hard limit does not allow it: to raise it, or `advice`.
void allow_open_files(std::size_t count, const std::string& advice);

}  // namespace cpt
