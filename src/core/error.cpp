#include "cpt/error.h"

#include <system_error>

namespace cpt {

std::string describe(const std::exception& error) {
  std::string text = error.what();
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    text += ": " + describe(cause);
  } catch (...) {
    text += ": unknown cause";
  }
  return text;
}

Fault fault_of(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return ours->fault();
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    return fault_of(cause);
  } catch (...) {
  }
  return Fault::kFailed;
}

std::string describe_errno(const std::string& action, int error_number) {
  return action + " failed: " + std::generic_category().message(error_number);
}

}  // namespace cpt
