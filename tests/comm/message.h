// What ranks send one another in tests of the communicator.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace cpt::testing {

using Contents = std::vector<std::byte>;

// The bytes that `from` sends to `to`: known to everyone, different for every pair and length.
inline Contents message(int from, int to, std::size_t length) {
  std::minstd_rand random(static_cast<unsigned>(from * 1009 + to * 31 + 1));
  Contents bytes(length);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
  return bytes;
}

}  // namespace cpt::testing
