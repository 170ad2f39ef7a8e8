#include "app/exit.h"

#include <cstdio>
#include <new>

namespace cpt {

int report_failure(const char* program, const std::exception& error) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  const std::string reason = no_memory ? "out of memory; use fewer --bits" : describe(error);
  std::fprintf(stderr, "%s: %s\n", program, reason.c_str());
  std::fflush(stderr);
  return exit_code(fault_of(error));
}

}  // namespace cpt
