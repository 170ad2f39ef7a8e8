// Waiting for what another process does.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace cpt::testing {

// Looks again and again; false if the condition does not come true in time.
template <class Condition>
bool comes_true(std::chrono::milliseconds limit, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// As above, for what a test cannot go on without.
template <class Condition>
void wait_until(const std::string& what, Condition condition) {
  if (!comes_true(std::chrono::seconds(60 * CPT_SLOWDOWN), condition))
    throw std::runtime_error("waited in vain until " + what);
}

}  // namespace cpt::testing
