// How the programs end.
#pragma once

#include <exception>
#include <string>

#include "cpt/error.h"

namespace cpt {

// The exit code of a fault, as CLI users know it: 0 is success, so no fault has it.
constexpr int exit_code(Fault fault) { return static_cast<int>(fault); }

// Prints "PROGRAM: reason" on standard error, the chain of causes in one line, and returns the exit code.
// `if_no_memory`: what the user can do where memory was the reason, if anything.
int report_failure(const char* program, const std::exception& error, const std::string& if_no_memory = "");

}  // namespace cpt
