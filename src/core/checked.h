// Conversions between integer types that refuse to lose a value.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "cpt/error.h"

namespace cpt {

// Not part of narrow(), so that its callers stay small.
template <std::integral From>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_to_narrow(From value, const char* what) {
  throw Error(Fault::kFailed, std::string(what) + " " + std::to_string(value) + " does not fit its type");
}

// The same number as another integer type. Throws Error(kFailed) that names the number by `what` if it does not fit.
template <std::integral To, std::integral From>
constexpr To narrow(From value, const char* what) {
  if (!std::in_range<To>(value)) refuse_to_narrow(value, what);
  return static_cast<To>(value);
}

}  // namespace cpt
