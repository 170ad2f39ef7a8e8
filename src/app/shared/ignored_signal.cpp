#include "app/shared/ignored_signal.h"

#include <csignal>
#include <cstring>

namespace cpt {

bool is_ignored(int signal) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace cpt
