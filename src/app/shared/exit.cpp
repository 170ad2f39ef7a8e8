#include "app/shared/exit.h"

#include <cstdio>
#include <new>

namespace cpt {

int report_failure(const char* program, const std::exception& error, const std::string& if_no_memory) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  std::string reason = no_memory ? "out of memory" : describe(error);
  if (no_memory && !if_no_memory.empty()) reason += "; " + if_no_memory;
  std::fprintf(stderr, "%s: %s\n", program, reason.c_str());
  std::fflush(stderr);
  return exit_code(fault_of(error));
}

}  // namespace cpt
