// Conversions between integer types that refuse to lose a value.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "cpt/error.h"

namespace cpt {

// A function of its own, so that callers of narrow() stay small.
template <std::integral From>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_to_narrow(From value, const char* what) {
  throw Error(Fault::kFailed, std::string(what) + " " + std::to_string(value) + " does not fit its type");
}

// The same number as another integer type; throws Error(kFailed) if it does not fit. `what` names the number.
template <std::integral To, std::integral From>
constexpr To narrow(From value, const char* what) {
  if (!std::in_range<To>(value)) refuse_to_narrow(value, what);
  return static_cast<To>(value);
}

}  // namespace cpt
