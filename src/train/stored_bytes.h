// What is read front to back of a blob, or of bytes in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace cpt {

// Fills all of its argument with the bytes that come next; throws Error(kBadData) if there are not as many.
using StoredBytes = std::function<void(std::span<std::byte>)>;

}  // namespace cpt
