#include "comm/host/host_name.h"

#include <unistd.h>

#include <array>

namespace cpt {

std::string host_name() {
  std::array<char, 256> name{};
  // One byte is kept back: a name that is cut may come without its final zero.
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown host";
  return name.data();
}

}  // namespace cpt
