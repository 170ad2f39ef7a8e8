#include "cpt/error.h"

#include <filesystem>
#include <system_error>

namespace cpt {

namespace {

// std::thread says no more than "Resource temporarily unavailable".
std::string reason_of(const std::exception& error) {
  const auto* of_system = dynamic_cast<const std::system_error*>(&error);
  const bool is_of_thread = of_system != nullptr && of_system->code() == std::errc::resource_unavailable_try_again &&
                            dynamic_cast<const std::filesystem::filesystem_error*>(&error) == nullptr;
  if (!is_of_thread) return error.what();
  return std::string("no thread could be started: ") + error.what() +
         "; raise the limit of processes and threads (ulimit -u, or pids.max of the cgroup), or start fewer ranks on "
         "this host";
}

}  // namespace

std::string describe(const std::exception& error) {
  std::string text = reason_of(error);
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
