// How much memory a test program asked for at once.
#pragma once

#include <cstddef>
#include <functional>

namespace cpt {

// The largest piece that any thread took by operator new while `action` ran, in bytes.
std::size_t largest_allocation(const std::function<void()>& action);

}  // namespace cpt
