// How the programs end.
#pragma once

#include <exception>

#include "cpt/error.h"

namespace cpt {

// The exit code of a fault, as CLI users know it: 0 is success, so no fault has it.
constexpr int exit_code(Fault fault) { return static_cast<int>(fault); }

// Prints "PROGRAM: reason" on standard error, the chain of causes in one line, and returns the exit code.
int report_failure(const char* program, const std::exception& error);

}  // namespace cpt
