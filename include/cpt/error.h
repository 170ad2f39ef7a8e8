// What can go wrong and how it is said: one exception type, a reason in one line, and a chain of causes.
#pragma once

#include <stdexcept>
#include <string>

namespace cpt {

// Why a program stops. The values are the exit codes of cpt_dist and cpt (sysexits.h where it has a fitting one).
enum class Fault : int {
  kFailed = 1,        // anything without a code of its own
  kUsage = 2,         // an option is wrong, or two options contradict
  kBadData = 65,      // input that breaks its format, a damaged model
  kNoInput = 66,      // input that is missing or unreadable
  kCannotWrite = 73,  // no permission, no space, a run directory that is in use
  kStopped = 75,      // on request, with a checkpoint to go on from
};

// The only exception this project throws on purpose. what() is one line without a final dot.
// To add a cause, catch and std::throw_with_nested(Error(...)); describe() prints the whole chain.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& reason) : std::runtime_error(reason), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

// "outer: inner: innermost" of an exception and what is nested in it.
std::string describe(const std::exception& error);

// The fault of the outermost cpt::Error in the chain; kFailed if there is none.
Fault fault_of(const std::exception& error);

// "open failed: No such file or directory", for an errno value.
std::string describe_errno(const std::string& action, int error_number);

}  // namespace cpt
